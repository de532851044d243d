"""The process that replays a program: supervisor, child, guards against live calls."""

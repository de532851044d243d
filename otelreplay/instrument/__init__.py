"""Decorators that record what crosses the boundaries of an agent, and the exporter that loses none of it."""

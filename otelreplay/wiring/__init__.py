"""The composition root: settings and names that a user gives become the objects that the other rooms work with.

Import the part that is needed: a command that reads a cassette should not pay for what converts a trace.
"""

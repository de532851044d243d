"""A recording answers for the outside: matching of live calls, and the first divergence."""

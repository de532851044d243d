"""Figures of ``docs/benchmarks.md``: ``python -m benchmarks`` measures them in one run, on synthetic data of its own."""

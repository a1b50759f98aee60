"""Costs and claims, one script each: `python -m benchmarks.NAME`."""

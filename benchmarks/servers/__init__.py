"""Servers and processes on this machine, for benchmarks and tests."""

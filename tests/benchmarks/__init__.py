"""Measurements of the running stack: `python -m tests.benchmarks [NAME ...] [--quick]` in a shell that is set up."""

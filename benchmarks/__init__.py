"""Benchmarks: equality with the other tool first, then both in turn, medians and ratios."""

"""Benchmarks: check that the tools agree, then time them in turn; report medians and ratios."""

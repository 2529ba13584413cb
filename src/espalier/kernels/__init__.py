"""Compiled loops: arrays in, arrays out. Nothing outside this package imports Numba."""

"""Espalier."""

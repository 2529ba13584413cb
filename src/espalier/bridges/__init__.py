"""Bridges to other libraries, each behind an extra: a component of spaCy, a loss of PyTorch."""

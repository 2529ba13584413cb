"""Decoders that can be asked for by name, and that nothing chooses by itself."""

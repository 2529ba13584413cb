"""Features: declarative templates, a vocabulary that locks, and the sparse matrix they make of a corpus."""

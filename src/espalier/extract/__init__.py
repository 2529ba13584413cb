"""Text to fields, with confidence and proof, for any task."""

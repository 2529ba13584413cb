"""Learning: objectives, optimisers, and what they need."""

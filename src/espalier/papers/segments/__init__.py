"""Models that label segments rather than tokens: potentials, inference, learning, and decoding under rules."""

"""Models: weights and a corpus make potentials, a path makes feature counts. No training here."""

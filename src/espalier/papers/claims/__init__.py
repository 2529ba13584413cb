"""What the five papers claim, as data (`claims.toml`), and what became of it here."""

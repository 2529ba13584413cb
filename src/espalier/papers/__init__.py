"""What five papers need and no recipe chooses by itself, and their tables: a house on the core, as anybody's own is."""

"""From lines that are known to the references they hold, each with its lines and its text."""

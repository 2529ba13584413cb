"""What each line of a document is: begins a reference, goes on with one, a heading, or nothing of a list."""

"""Where words stand on the pages of a PDF, and in which order they are read: characters to lines, by geometry alone."""

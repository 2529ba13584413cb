"""The routes of the public API: each takes a request apart, calls the library, and puts the answer together."""

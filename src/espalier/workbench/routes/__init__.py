"""The routes of the page: each takes a request apart, calls the library, and puts the answer together."""

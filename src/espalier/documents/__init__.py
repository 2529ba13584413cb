"""Files that people have (PDF, web pages, manuscripts, pasted text) to lines with places, and lines to references.

A file is read into lines (`reading`, one file a kind), each with its page and its place on it (`lines`); a model says
what each line is, and the lists of references among them are cut.
"""

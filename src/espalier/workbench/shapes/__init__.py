"""The shapes of what the page asks and is answered; those of texts, fields and errors are the server's."""

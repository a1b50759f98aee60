"""The language of a text from the text alone."""

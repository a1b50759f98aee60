"""The tables of a study of methods that tell the language of a page."""

"""The language of a page."""

"""The language of a URL."""

"""Pages: parsing, and identification of their language."""

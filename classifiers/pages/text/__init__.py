"""Language identification by text alone."""

"""Page language identification by Tamura 2007, with its tables."""

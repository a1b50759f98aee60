"""Page parsing and language identification."""

"""URL language identification."""

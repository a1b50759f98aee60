"""Arguments and settings, each declared once."""

"""Where pages come from besides the live Web."""

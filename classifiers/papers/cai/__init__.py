"""Page language identification by Cai 2009."""

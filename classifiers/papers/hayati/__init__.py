"""Page language identification by Hayati 2004."""

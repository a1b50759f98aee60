"""The methods of Hayati 2004 for the language of a page."""

"""The method of Cai 2009 for the language of a page."""

"""The procedure of Tamura 2007 for the language of a page, and its tables."""

"""Methods of the papers, and of other packages, that identify the language of a page."""

"""The papers' methods of telling a page's language, and other packages' methods."""

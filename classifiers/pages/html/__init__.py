"""The HTML of a page: its tree, its links, and protection against pages that parse slowly."""

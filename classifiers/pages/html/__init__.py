"""HTML parsing: tree, links, and protection against pages that parse slowly."""

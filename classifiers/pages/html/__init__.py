"""The HTML of a page: its tree, its links, what would make parsing slow."""

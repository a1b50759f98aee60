"""The encoding of a page: declared, detected, decoded."""

"""The bytes of an answer of HTTP, read by the same rules from servers and from archives."""

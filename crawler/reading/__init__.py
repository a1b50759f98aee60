"""A page is read: its language, its links, within limits of time and memory."""

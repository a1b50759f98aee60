"""The run folder and its database."""

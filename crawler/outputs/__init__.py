"""The archive of a run: WARC files, their index, packages, take-downs."""

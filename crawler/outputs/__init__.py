"""The pages of a run as files: WARC, their index, and packages of both."""

"""What a run keeps of its pages, and what people take away: WARC files, texts, exports."""

"""Page reading: language and links, within limits of time and memory."""

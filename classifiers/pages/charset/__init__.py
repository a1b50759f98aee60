"""Page encodings: declaration, detection, decoding."""

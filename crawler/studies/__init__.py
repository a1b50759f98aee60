"""Studies on labelled URLs, texts and pages: the commands that evaluate and train."""

"""The command `langfocus` if the console script is not installed: `python -m langfocus`."""

import sys

from langfocus.command_line import main

sys.exit(main())

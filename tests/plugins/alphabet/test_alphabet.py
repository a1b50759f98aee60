"""The tests that the author of the package writes."""

import sys
from pathlib import Path

from langfocus.testing import OrderingTests

sys.path.append(str(Path(__file__).parent))


class TestAlphabetical(OrderingTests):
    part = "alphabet:Alphabetical"

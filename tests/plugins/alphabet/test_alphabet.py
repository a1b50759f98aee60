"""The tests that the author of the package writes."""

import sys
from pathlib import Path

from hypothesis import settings

from langfocus.testing import OrderingTests
from langfocus.testing.frontiers import FrontierMachine

sys.path.append(str(Path(__file__).parent))


class TestAlphabetical(OrderingTests):
    part = "alphabet:Alphabetical"


class Steps(FrontierMachine):
    ordering = "alphabet:Alphabetical"
    filter_name = "alphabet:WithoutQueries"


TestSteps = Steps.TestCase
TestSteps.settings = settings(max_examples=5, stateful_step_count=15, deadline=None)

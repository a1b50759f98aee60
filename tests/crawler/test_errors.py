"""A package that is missing or too old is named with what installs it."""

import pickle

import numpy
import pytest

from langfocus.classifiers.errors import MissingPackageError


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (
            MissingPackageError("no-such-one"),
            "no-such-one is not installed: pip install no-such-one",
        ),
        (
            MissingPackageError("numpy"),
            f"numpy {numpy.__version__} cannot be used, is it too old? pip install --upgrade numpy",
        ),
    ],
)
def test_a_missing_package_says_what_to_install_in_any_process(
    error: MissingPackageError, message: str
) -> None:
    assert str(error) == message
    again = pickle.loads(pickle.dumps(error))
    assert str(again) == str(error)

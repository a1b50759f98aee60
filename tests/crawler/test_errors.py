"""The trees of errors are as they are drawn, and a caller catches the builtin beside each."""

import inspect
import pickle
import re
from types import ModuleType

import numpy
import pytest

import classifiers.errors
import crawler.errors
from classifiers.errors import LangfocusError, MissingPackageError


@pytest.mark.parametrize("module", [classifiers.errors, crawler.errors])
def test_the_tree_at_the_top_of_the_module_is_the_tree_of_its_classes(module: ModuleType) -> None:
    drawn = re.findall(r"^[├└]── (\w+) \((\w+)\) +\S", str(module.__doc__), re.MULTILINE)
    defined = {
        name: [base.__name__ for base in error.__bases__]
        for name, error in inspect.getmembers(module, inspect.isclass)
        if error is not LangfocusError
    }
    (root,) = (name for name, bases in defined.items() if bases == ["LangfocusError"])
    assert f"\n{root}\n" in str(module.__doc__)
    del defined[root]
    assert {name: [root, builtin] for name, builtin in drawn} == defined


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (
            MissingPackageError("no-such-one", "parquet"),
            "no-such-one is not installed: pip install 'langfocus[parquet]'",
        ),
        (
            MissingPackageError("no-such-one"),
            "no-such-one is not installed: pip install no-such-one",
        ),
        (
            MissingPackageError("numpy", "redis"),
            f"numpy {numpy.__version__} cannot be used, is it too old? "
            "pip install --upgrade 'langfocus[redis]'",
        ),
    ],
)
def test_a_missing_package_says_what_to_install_in_any_process(
    error: MissingPackageError, message: str
) -> None:
    assert str(error) == message
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.extra) == (str(error), error.extra)

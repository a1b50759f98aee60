import pytest

from langfocus.classifiers.urls.model import UrlModel


@pytest.fixture(scope="session")
def model() -> UrlModel:
    return UrlModel.load()

"""Errors of language identification, and the base of all errors of the project."""

from importlib import import_module, metadata
from types import ModuleType


class LangfocusError(Exception):
    """The base of all errors of langfocus; the message is one line."""


class ClassifierError(LangfocusError):
    """The base of all errors of identification; the message is one line."""


class LanguageError(ClassifierError, ValueError):
    """A language that is not known."""


class StudyError(ClassifierError, ValueError):
    """A study that cannot be carried out as requested."""


class DatasetError(ClassifierError, ValueError):
    """Labelled data that cannot be read; names the file and the line."""


class ModelError(ClassifierError, OSError):
    """A model file that is missing, damaged or of another version."""


class GeoIPError(ClassifierError, OSError):
    """A file of countries that is missing, damaged or of another kind."""


class MissingPackageError(ClassifierError, ImportError):
    """An optional package that is missing or too old; the message says how to install it."""

    def __init__(self, package: str) -> None:
        super().__init__(package)
        self.package = package

    def __str__(self) -> str:
        """Return the message."""
        name = self.package
        try:
            found = metadata.version(name)
        except metadata.PackageNotFoundError:
            return f"{name} is not installed: pip install {name}"
        return f"{name} {found} cannot be used, is it too old? pip install --upgrade {name}"


def optional(name: str, package: str = "") -> ModuleType:
    """A module of an optional package; MissingPackageError if it is not installed.

    `package` is the name to install if it is not the first part of the module's.
    """
    try:
        return import_module(name)
    except ImportError as error:
        raise MissingPackageError(package or name.partition(".")[0]) from error

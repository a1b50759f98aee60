"""Identification errors, and the base class of every langfocus error."""

from importlib import import_module, metadata
from types import ModuleType


class LangfocusError(Exception):
    """Base class of every langfocus error; the message is one line."""


class ClassifierError(LangfocusError):
    """Base class of identification errors; the message is one line."""


class LanguageError(ClassifierError, ValueError):
    """An unknown language."""


class StudyError(ClassifierError, ValueError):
    """A study that cannot run as requested."""


class DatasetError(ClassifierError, ValueError):
    """Unreadable labelled data; the message names file and line."""


class ModelError(ClassifierError, OSError):
    """A model file that is missing, damaged or from another version."""


class GeoIPError(ClassifierError, OSError):
    """A country database that is missing, damaged or of another kind."""


class PluginError(ClassifierError, ValueError):
    """A plug-in that cannot be loaded or raised an error; the message names it."""


class MissingPackageError(ClassifierError, ImportError):
    """An optional package that is missing or too old; the message explains the installation."""

    def __init__(self, package: str) -> None:
        super().__init__(package)
        self.package = package

    def __str__(self) -> str:
        """Return the message."""
        name = self.package
        try:
            version = metadata.version(name)
        except metadata.PackageNotFoundError:
            return f"{name} is not installed: pip install {name}"
        return f"{name} {version} cannot be used, is it too old? pip install --upgrade {name}"


def optional(name: str, package: str = "") -> ModuleType:
    """Import a module from an optional package; MissingPackageError if not installed.

    `package` is the name to install, where different from the module's first part.
    """
    try:
        return import_module(name)
    except ImportError as error:
        raise MissingPackageError(package or name.partition(".")[0]) from error

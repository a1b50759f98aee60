"""Errors of language identification.

ClassifierError
├── LanguageError (ValueError)         a language that is not known here
├── AlgorithmError (ValueError)        an algorithm or classifier that cannot be built as named
├── StudyError (ValueError)            a study that cannot be made as it was asked for
├── DatasetError (ValueError)          labelled data that cannot be read
├── ModelError (OSError)               a model file that is missing, damaged or of another version
├── GeoIPError (OSError)               a file of countries that is missing or of another kind
└── MissingPackageError (ImportError)  an optional package that is not installed
"""


class ClassifierError(Exception):
    """Anything that identification cannot do; its message is one line."""


class LanguageError(ClassifierError, ValueError):
    """A language that is not known here."""


class AlgorithmError(ClassifierError, ValueError):
    """An algorithm or classifier that is not known here, or not with these features."""


class StudyError(ClassifierError, ValueError):
    """A study that cannot be made as it was asked for."""


class DatasetError(ClassifierError, ValueError):
    """Labelled data that cannot be read; names the file and the line."""


class ModelError(ClassifierError, OSError):
    """A model file that is missing, damaged or of another version."""


class GeoIPError(ClassifierError, OSError):
    """A file of countries that is missing, damaged or of another kind."""


class MissingPackageError(ClassifierError, ImportError):
    """An optional package that is not installed; the message says what to install.

    `extra` is the one of langfocus that brings the package, None where none does.
    """

    def __init__(self, package: str, extra: str | None = None) -> None:
        # Both stay in `args`, so that the error comes back whole from a worker's process.
        super().__init__(package, extra)
        self.package = package
        self.extra = extra

    def __str__(self) -> str:
        """Return the message."""
        wanted = f"'langfocus[{self.extra}]'" if self.extra else self.package
        return f"{self.package} is not installed: pip install {wanted}"

"""Errors of language identification.

ClassifierError
├── LanguageError (ValueError)   a language that is not known here
├── ModelError (OSError)         a model file that is missing, damaged or of another version
└── DatasetError (ValueError)    labelled data that cannot be read
"""


class ClassifierError(Exception):
    """Anything that identification cannot do; its message is one line."""


class LanguageError(ClassifierError, ValueError):
    """A language that is not known here."""


class ModelError(ClassifierError, OSError):
    """A model file that is missing, damaged or of another version."""


class DatasetError(ClassifierError, ValueError):
    """Labelled data that cannot be read; names the file and the line."""

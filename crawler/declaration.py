"""One declaration for each argument and setting: its type, default, bounds and help.

A declaration is an annotated name, in a dataclass or in a settings module:

    tolerance: Annotated[int, Declared("pages that a server may give", least=0)] = 10

Parser, check, error message and manual all come from it.
"""

import math
import types
from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, fields, is_dataclass
from typing import Any, Union, get_args, get_origin, get_type_hints

from crawler.errors import SettingError

_TRUE = {"1", "true", "yes"}
_FALSE = {"0", "false", "no"}
_MOST = 10**12
"""More is a mistake, and products of such numbers fit in 64 bits."""


@dataclass(frozen=True, slots=True)
class Declared:
    """The bounds, choices and help of a declared value.

    `help` is one phrase. `default_help` describes a default that is not a plain value. `least` is
    the smallest number allowed, `most` the largest one. `choices` are all values allowed, () for
    any. `read` turns the text into the value and raises `SettingError` if it cannot. It takes the
    text and the name for messages. None: the type decides.
    """

    help: str
    default_help: str = ""
    least: int | None = None
    most: int = _MOST
    choices: tuple[str, ...] = ()
    read: Callable[[str, str], object] | None = None


@dataclass(frozen=True, slots=True)
class Option:
    """A spider argument or a setting with its declaration. `default` MISSING: it is required."""

    name: str
    kind: type
    default: object
    declared: Declared

    @property
    def manual(self) -> str:
        """The help with the choices and the default, one line of text."""
        choices = ", ".join(self.declared.choices)
        text = f"{self.declared.help}: {choices}" if choices else self.declared.help
        default = self.declared.default_help or _spelled(self.default)
        return f"{text} (default: {default})" if default else text

    def parse(self, value: object, label: str) -> Any:
        """Return the text as a value of the option's type; raises `SettingError`.

        `label` is the name that messages use (`-a pages`, `LANGFOCUS_LEASE`).
        """
        if self.declared.read is not None:
            return self.declared.read(str(value), label)
        if self.declared.choices and value not in self.declared.choices:
            raise SettingError(
                f"{label}={value}: no such {self.name}; there are "
                + ", ".join(self.declared.choices)
            )
        if self.kind is bool:
            return _truth(value, label)
        if self.kind in (int, float):
            return self._number(value, label)
        return self.kind(value)

    def _number(self, value: object, label: str) -> float:
        least = -math.inf if self.declared.least is None else self.declared.least
        try:
            number: float = self.kind(value)
        except (TypeError, ValueError):
            number = math.nan
        if self.declared.most < number < math.inf:
            raise SettingError(f"{label}={value}: {self.declared.most:,} is the most")
        if least <= number < math.inf:
            return number
        kind = "a whole number" if self.kind is int else "a number"
        bound = "" if self.declared.least is None else f" of at least {self.declared.least}"
        raise SettingError(f"{label}={value}: {kind}{bound} is needed")


def _spelled(default: object) -> str:
    """Return a default as the manual prints it, "" for none."""
    if isinstance(default, float):
        return f"{default:g}"
    is_untold = default is MISSING or default is None or default is False or default == ()
    return "" if is_untold else str(default)


def _truth(value: object, label: str) -> bool:
    text = str(value).lower()
    if text not in _TRUE | _FALSE:
        raise SettingError(f"{label}={value}: True or False is needed")
    return text in _TRUE


def declarations(of: type | types.ModuleType) -> dict[str, Option]:
    """Return the declared options of a dataclass or a module by name, in its order."""
    hints = get_type_hints(of, include_extras=True)
    defaults = _defaults(of)
    found = {}
    for name, hint in hints.items():
        for part in get_args(hint)[1:] if get_origin(hint) is not None else ():
            if isinstance(part, Declared):
                found[name] = Option(name, _kind(get_args(hint)[0]), defaults[name], part)
    return found


def _defaults(of: type | types.ModuleType) -> Mapping[str, object]:
    if isinstance(of, type) and is_dataclass(of):
        return {field.name: field.default for field in fields(of)}
    return vars(of)


def _kind(hint: Any) -> type:
    """Return the class of a value other than None: `int` for `int | None`."""
    if get_origin(hint) in (Union, types.UnionType):
        hint = next(part for part in get_args(hint) if part is not type(None))
    kind: type = get_origin(hint) or hint
    return kind

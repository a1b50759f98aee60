"""The declaration of an option: help, check, and its role in a run."""

import json
import math
import re
from collections.abc import Callable
from dataclasses import field
from typing import Any, Final, NamedTuple

from langfocus.classifiers.errors import PluginError
from langfocus.classifiers.plugins import Plugin, Registry
from langfocus.crawler.errors import SettingError

_MOST: Final = 10**12
"""More is a mistake, and products of such numbers fit in 64 bits."""

_MOST_BYTES: Final = 2**53  # numbers of Lua are exact up to this one
_SIZE: Final = re.compile(r"([0-9]{1,16}(?:\.[0-9]{1,9})?)(?: ?([kmgt])(i?))?b?", re.IGNORECASE)

_TRUTHS: Final = {"1": True, "true": True, "yes": True, "0": False, "false": False, "no": False}


class Knob(NamedTuple):
    """The declaration of an argument or a setting.

    `help` is one phrase; for a number it begins with the unit, and it spells out a default that is
    not a plain value. `why` gives the reason for a default that limits or chooses. `least` and
    `most` bound a number. `choices` are the allowed values, () for any; `parts` has the parts that
    they name, to which plug-ins add. `read` parses a text, with the option's label for messages;
    None: the type decides.

    `binds`: a run is resumed and merged only with the same value. `agreed`: all workers of a shared
    crawl have the same value. `goal`: the option ends a crawl. `census`: a census accepts it.
    """

    help: str
    setting: str = ""
    why: str = ""
    least: int | None = None
    most: int = _MOST
    choices: tuple[str, ...] = ()
    parts: Registry[Any] | None = None
    read: Callable[[str, str], object] | None = None
    binds: bool = False
    agreed: bool = False
    goal: bool = False
    census: bool = False
    name: str = ""
    kind: Any = str
    default: object = None

    @property
    def label(self) -> str:
        """The name in messages: `-a pages` or `LANGFOCUS_LEASE`."""
        return self.setting or f"-a {self.name}"

    @property
    def manual(self) -> str:
        """The help with the choices and the default, one line of text."""
        more = ", or a plug-in" if self.parts is not None else ""
        text = f"{self.help}: {', '.join(self.choices)}{more}" if self.choices else self.help
        is_shown = self.default not in (None, "", ()) and self.default is not False
        plain = f"{self.default:g}" if isinstance(self.default, float) else str(self.default)
        return f"{text} (default: {plain})" if is_shown else text

    def value(self, given: object) -> Any:
        """Return a text or a value as one of the knob's type; raises `SettingError`."""
        if self.read is not None:
            return self.read(str(given), self.label)
        is_file = self.parts is not None and self.parts.is_file(str(given))
        is_chosen = not self.choices or given in self.choices or is_file
        if not is_chosen and self.plugin(given) is None:
            known = self.choices if self.parts is None else self.parts.names()
            raise SettingError(
                f"{self.label}={given}: no such {self.name}; there are {', '.join(known)}"
            )
        if self.kind is bool:
            if str(given).lower() not in _TRUTHS:
                raise SettingError(f"{self.label}={given}: True or False is needed")
            return _TRUTHS[str(given).lower()]
        return self._number(given) if self.kind in (int, float) else self.kind(given)

    def plugin(self, given: object) -> Plugin | None:
        """Return the plug-in that a value names, or None; raises `SettingError`."""
        if self.parts is None or given is None:
            return None
        try:
            return self.parts.plugin(str(given))
        except PluginError as error:
            raise SettingError(f"{self.label}={given}: {error}") from error

    def _number(self, given: object) -> float:
        least = -math.inf if self.least is None else self.least
        try:
            number: float = self.kind(given)
        except (TypeError, ValueError):
            number = math.nan
        if self.most < number < math.inf:
            raise SettingError(f"{self.label}={given}: {self.most:,} is the most")
        if least <= number < math.inf:
            return number
        kind = "a whole number" if self.kind is int else "a number"
        bound = "" if self.least is None else f" of at least {self.least}"
        raise SettingError(f"{self.label}={given}: {kind}{bound} is needed")


def knob(default: object, help: str, setting: str = "", why: str = "", **declared: Any) -> Any:
    """Return a field of `Config`; `declared` are further fields of `Knob`."""
    declared.setdefault("choices", tuple(declared.get("parts") or ()))
    return field(default=default, metadata={"knob": Knob(help, setting, why, **declared)})


def read_size(text: str, label: str) -> int:
    """Return a number of bytes: `20G` and `1.5 kB` are powers of 1000, `2GiB` of 1024."""
    found = _SIZE.fullmatch(text.strip())
    number = 0.0
    if found is not None:
        power = " kmgt".index((found[2] or " ").lower())
        number = float(found[1]) * (1024 if found[3] else 1000) ** power
    if not 1 <= number <= _MOST_BYTES:
        raise SettingError(f"{label}={text}: a number of bytes is needed, such as 500M or 20G")
    return int(number)


def text_of(value: object, between: str = ",") -> str:
    """Return a value in the format of the command line, a list with `between` its values."""
    if isinstance(value, dict):
        return json.dumps(value)
    if isinstance(value, list | tuple | set | frozenset):
        return between.join(map(str, value))
    return str(value)

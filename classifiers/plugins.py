"""Parts that a name chooses: built in, of an installed plug-in, or at a dotted path.

A plug-in is an entry point in the group of its kind, or `package.module:attribute`. Names of
built-in parts win, and no metadata is read for them.
"""

import os
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import reduce
from importlib import import_module
from importlib.metadata import EntryPoint, distributions, entry_points
from typing import Any, Final, Generic, NamedTuple, TypeVar, cast

from langfocus.classifiers.errors import PluginError

Part = TypeVar("Part")

_DOTTED: Final = re.compile(r"(?!\d)\w+(?:\.(?!\d)\w+)*:(?!\d)\w+(?:\.(?!\d)\w+)*")
_LONGEST: Final = 500


class Plugin(NamedTuple):
    """A part that is not built in. `distribution` is "" for a module outside of any."""

    kind: str
    name: str  # as it was given
    path: str  # package.module:attribute
    distribution: str = ""
    version: str = ""

    def __str__(self) -> str:
        """Return the words of a message."""
        of = " ".join(filter(None, (self.distribution, self.version)))
        return f"plug-in {self.name} ({of})" if of else f"plug-in {self.name}"

    @contextmanager
    def blamed(self, *passed: type[BaseException]) -> Iterator[None]:
        """Raise `PluginError` with the plug-in's name for an exception of the block.

        Exceptions in `passed` belong to the contract of the part. A lack of memory and a time limit
        end the process or the page, as without a plug-in.
        """
        own: tuple[type[BaseException], ...] = (MemoryError, PluginError, *passed)
        try:
            yield
        except own:
            raise
        except (Exception, SystemExit) as error:
            said = " ".join(f"{type(error).__name__}: {error}".split())[:_LONGEST]
            raise PluginError(f"{self}: {said}") from error


@dataclass(frozen=True)
class Registry(Generic[Part]):
    """A kind of parts by name; iteration yields built-in names."""

    kind: str
    group: str  # of entry points
    built_in: Mapping[str, Part | str]  # the part, or its dotted path
    ending: str = ""  # a name that ends so is that of a model file

    def __iter__(self) -> Iterator[str]:
        return iter(self.built_in)

    def __len__(self) -> int:
        return len(self.built_in)

    def __contains__(self, name: object) -> bool:
        return name in self.built_in

    def plugin(self, name: str) -> Plugin | None:
        """Return the plug-in with a name, without import; None for a built-in or unknown part.

        Raises `PluginError` for a name that two distributions define.
        """
        if name in self.built_in:
            return None
        if _DOTTED.fullmatch(name):
            return Plugin(self.kind, name, name, *_distribution_of(name))
        found = [self._of(point) for point in entry_points(group=self.group, name=name)]
        if len(found) > 1:
            several = ", ".join(f"{one.distribution} ({one.path})" for one in found)
            raise PluginError(f"plug-in {name} is in several distributions: {several}")
        return found[0] if found else None

    def installed(self) -> Iterator[Plugin]:
        """Yield the plug-ins of all installed distributions, by name."""
        yield from sorted(map(self._of, entry_points(group=self.group)))

    def names(self) -> list[str]:
        """Return built-in names, then the names of installed plug-ins."""
        return list(dict.fromkeys([*self, *(plugin.name for plugin in self.installed())]))

    def is_file(self, name: str) -> bool:
        """Return True if a name is that of a model file."""
        return bool(self.ending) and name.endswith(self.ending)

    def knows(self, name: str) -> bool:
        """Return True if a part has the name; it may still fail to load."""
        return name in self.built_in or self.is_file(name) or self.plugin(name) is not None

    def load(self, name: str) -> Part:
        """Import and return a part; raises KeyError for an unknown name, and `PluginError`."""
        plugin = self.plugin(name)
        if plugin is not None:
            return cast(Part, imported(plugin))
        part = self.built_in[name]
        return cast(Part, object_at(part) if isinstance(part, str) else part)

    def _of(self, point: EntryPoint) -> Plugin:
        path = point.value.partition("[")[0].strip()
        of = (point.dist.name, point.dist.version) if point.dist else ()
        return Plugin(self.kind, point.name, path, *of)


def imported(plugin: Plugin) -> Any:
    """Import and return the object of a plug-in; raises `PluginError`.

    A dotted path may name a module in the working folder.
    """
    with plugin.blamed():
        return object_at(plugin.path, from_folder=plugin.name == plugin.path)


def object_at(path: str, *, from_folder: bool = False) -> Any:
    """Import and return the object at a dotted path.

    With `from_folder` the module may be in the working folder, which is searched last.
    """
    if from_folder and (folder := os.getcwd()) not in sys.path:  # noqa: PTH109
        sys.path.append(folder)
    module, _, attributes = path.partition(":")
    return reduce(getattr, filter(None, attributes.split(".")), import_module(module))


def _distribution_of(path: str) -> tuple[str, ...]:
    """Return name and version of the distribution with a module among its files; () for none."""
    module = path.partition(":")[0].replace(".", "/")
    for found in distributions():
        # `packages_distributions` parses all metadata, which takes 15 times as long.
        # `files` parses each line; old kinds of installation have no such list.
        recorded = found.read_text("RECORD") or "\n".join(map(str, found.files or ()))
        if f"\n{module}." in f"\n{recorded}" or f"\n{module}/" in f"\n{recorded}":
            return found.name, found.version
    return ()

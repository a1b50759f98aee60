"""A crawl started from Python, in a separate process."""

import inspect
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, ParamSpec

from langfocus.crawler.commands.child import IMPORTING, command, run_child
from langfocus.crawler.errors import CrawlError, SettingError
from langfocus.crawler.options.config import Arguments, Config
from langfocus.crawler.options.knob import text_of
from langfocus.crawler.report.past_run import Run

if TYPE_CHECKING:
    from langfocus.crawler.spiders.langfocus import Spider

P = ParamSpec("P")


@dataclass(frozen=True, kw_only=True)
class _Call(Arguments):
    """Arguments of `crawl`; `langfocus crawl --help` explains crawl arguments."""

    lang: "str | type[Spider]" = field(default="", kw_only=False)  # type: ignore[assignment]
    folder: str | PathLike[str] | None = None
    settings: Mapping[str, object] = field(default_factory=dict)
    shows_progress: bool = False


def _takes(_: Callable[P, _Call]) -> Callable[[Callable[..., Run]], Callable[P, Run]]:
    """Let type checkers treat a class's arguments as a function's."""
    return lambda function: function


@_takes(_Call)
def crawl(
    lang: "str | type[Spider]" = "",
    *,
    seeds: str | PathLike[str] | Iterable[str] | None = None,
    folder: str | PathLike[str] | None = None,
    settings: Mapping[str, object] | None = None,
    shows_progress: bool = False,
    **arguments: object,
) -> Run:
    """Return the run of a finished crawl.

    `lang` is a code (`de`), a name (`German`), or a spider: a class derived from
    `langfocus.Spider`, whose attributes are defaults for the arguments. `seeds` is a file with one
    URL per line, one URL, or several URLs; None means the shipped seed list for the language.
    `folder` is a new run folder, or the folder of a crawl to resume; None means a new folder below
    `runs`. `settings` are Scrapy and langfocus settings by name; a crawl of the live Web needs
    LANGFOCUS_CONTACT. With `shows_progress` the log and regular progress lines go to standard
    error. `langfocus crawl --help` describes the remaining arguments.

    The crawl runs in a separate process, since Twisted's reactor cannot start twice in one process.
    Ctrl-C stops it in order: the run is complete up to that moment, and the same call with the same
    `folder` continues it. A second Ctrl-C kills it.

    Raises `SettingError` for an argument that cannot be used, and `CrawlError` with the message of
    the crawl if it failed.
    """
    if text := os.environ.get(IMPORTING):
        raise CrawlError(f'{text}: langfocus.crawl(...) must be below if __name__ == "__main__":')
    with _seed_argument(seeds) as given:
        spider = "" if isinstance(lang, str) else _place_of(lang)
        named = {"lang": lang} if lang and isinstance(lang, str) else {}
        values = {**named, **given, **_texts(arguments)}
        name = lang.name if not isinstance(lang, str) else Config.read(values).lang or "census"
        chosen = Path(folder) if folder is not None else _new_folder(name)
        is_new = folder is None or not chosen.exists()
        line = command(values, _texts(settings or {}), chosen, spider=spider)
        # The module of a spider is where this process found it.
        path = {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))} if spider else {}
        end = run_child(line, shows_progress=shows_progress, variables=path)
    if end.code and is_new:
        with suppress(OSError):
            chosen.rmdir()  # a crawl that was refused leaves no empty folder
    if end.code:
        raise CrawlError(str(end))
    return Run(chosen)


def _new_folder(name: str) -> Path:
    from langfocus.crawler.run.folder import new_folder

    return new_folder(name, time.time())


def _place_of(spider: "type[Spider]") -> str:
    """Return what `langfocus crawl --spider` calls a class; raises `SettingError`."""
    if spider.__module__ != "__main__":
        return f"{spider.__module__}:{spider.__qualname__}"
    try:
        return f"{Path(inspect.getfile(spider)).resolve(strict=True)}:{spider.__qualname__}"
    except (TypeError, OSError) as error:
        raise SettingError(
            f"{spider.__name__}: a spider that crawls in a process of its own must be in a file"
        ) from error


@contextmanager
def _seed_argument(
    seeds: str | PathLike[str] | Iterable[str] | None,
) -> Iterator[dict[str, str]]:
    """Yield the argument for the seeds; several URLs are in a file that exists during the crawl."""
    if seeds is None:
        yield {}
    elif isinstance(seeds, str | PathLike):
        yield {"seeds": os.fspath(seeds)}
    else:
        with tempfile.NamedTemporaryFile("w", suffix=".txt", encoding="utf-8") as file:
            file.writelines(f"{url}\n" for url in seeds)
            file.flush()
            yield {"seeds": file.name}


def _texts(values: Mapping[str, object]) -> dict[str, str]:
    """Return values in the format of the command line; None means that a value is not set."""
    return {name: text_of(value) for name, value in values.items() if value is not None}

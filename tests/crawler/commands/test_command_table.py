"""Laws that every command of the project keeps."""

import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from langfocus.classifiers.errors import MissingPackageError, ModelError, StudyError
from langfocus.crawler.commands import COMMANDS
from langfocus.crawler.commands.base import ended, parser_of
from langfocus.crawler.errors import GraphError, RunFolderError, SettingError
from tests.support.commandline import call
from tests.support.crawls import ROOT

DOCS = "".join(
    path.read_text(encoding="utf-8") for path in (ROOT / "README.md", *ROOT.glob("docs/**/*.md"))
)
MOST_FLAGS = 57
OF_SETTINGS = {"-h", "-a", "-s", "-o", "-O", "-L"}
"""Flags whose values are counted as arguments and settings, and those of Scrapy."""


def flags(name: str) -> list[str]:
    """The flags of a command itself."""
    found = [action.option_strings for action in parser_of(name)._actions]
    return [texts[0] for texts in found if texts and texts[0] not in OF_SETTINGS]


@pytest.mark.parametrize("name", COMMANDS)
def test_the_help_describes_every_argument_and_has_an_example(name: str) -> None:
    parser = parser_of(name)
    assert all(action.help for action in parser._actions)
    text = parser.format_help()
    assert text.startswith(f"usage: langfocus {name}")
    assert "examples:" in text
    assert f"\n  langfocus {name} " in text
    assert max(map(len, text.splitlines())) <= 100
    module = import_module(COMMANDS[name].module)
    assert len(module.DESCRIPTION) > len(COMMANDS[name].help) > 10
    assert f"langfocus {name}" in DOCS


def test_there_are_few_flags() -> None:
    assert sum(len(flags(name)) for name in COMMANDS) <= MOST_FLAGS


@pytest.mark.parametrize("name", COMMANDS)
def test_an_unknown_option_is_one_line_and_exit_code_2(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(name, "x", "y", "--colour") == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("langfocus: ")
    assert f"; see langfocus {name} --help" in printed.err
    assert printed.err.count("\n") == 1


@pytest.mark.parametrize(
    ("name", "flag"),
    [(name, flag) for name in COMMANDS for flag in ("--json", "--html") if flag in flags(name)],
)
def test_a_file_in_a_folder_that_does_not_exist_is_refused_before_anything_is_done(
    name: str, flag: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "none" / "x.json"
    assert call(name, "x", flag, path) == 2
    assert f"argument {flag}: {path}: its folder does not exist" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (["crawl", "other"], "other: not understood; see langfocus crawl --help"),
        (["crawl", "lang=de"], "lang=de: an argument needs -a before it: -a lang=de"),
        (["crawl", "-a", "lang"], "-a takes NAME=VALUE"),
        (["report"], "the following arguments are required: RUN_FOLDER"),
        (["takedown", "x"], "the following arguments are required: HOST"),
        (["merge", "x", "redis://y"], "expected FOLDER WORKER_FOLDER... [redis://HOST:PORT/DB]"),
    ],
)
def test_a_wrong_call_is_one_line(
    line: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(*line) == 2
    printed = capsys.readouterr().err
    assert printed.startswith(f"langfocus: {said}")
    assert printed.count("\n") == 1


def raised(error: BaseException) -> int:
    raise error


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (SettingError("pages=x"), 2, "pages=x"),
        (StudyError("no folds"), 2, "no folds"),
        (RunFolderError("no run"), 1, "no run"),
        (GraphError("two\nlines"), 1, "two lines"),
        (ModelError("no model"), 1, "no model"),
        (MissingPackageError("no-such-package"), 1, "pip install no-such-package"),
        (FileNotFoundError(2, "No such file", "x.tsv"), 1, "x.tsv"),
        (KeyboardInterrupt(), 130, "interrupted"),
        (KeyboardInterrupt("interrupted after 2"), 130, "interrupted after 2"),
    ],
)
def test_a_failure_is_one_line_and_the_exit_code_of_its_kind(
    error: BaseException, code: int, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ended(lambda: raised(error)) == code
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("langfocus: ")
    assert said in printed.err
    assert printed.err.count("\n") == 1


def test_an_error_that_nobody_foresaw_is_not_hidden() -> None:
    with pytest.raises(ZeroDivisionError):
        ended(lambda: raised(ZeroDivisionError()))


def test_a_reader_that_goes_away_ends_a_command_without_a_message() -> None:
    command = [sys.executable, "-m", "langfocus", "identify", "languages"]
    with subprocess.Popen(command, cwd=ROOT, stdout=-1, stderr=-1) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 1


def test_commands_load_scrapy_and_heavy_packages_only_when_they_run(tmp_path: Path) -> None:
    (tmp_path / "urls").write_text("http://a.de/\n")
    code = (
        "import sys\n"
        "from importlib import import_module\n"
        f"for module in {[one.module for name, one in COMMANDS.items() if name != 'crawl']!r}:\n"
        "    import_module(module)\n"
        "heavy = ('langfocus.classifiers.papers', 'numba', 'sklearn', 'scipy', 'rich')\n"
        "heavy = (*heavy, 'matplotlib')\n"
        "print([name for name in heavy if name in sys.modules])\n"
        "from langfocus.crawler.commands.base import run_command\n"
        "assert run_command('identify', ['urls', sys.argv[1]]) == 0\n"
        "print([name for name in ('scrapy', 'twisted') if name in sys.modules])\n"
    )
    line = [sys.executable, "-c", code, str(tmp_path / "urls")]
    done = subprocess.run(line, cwd=ROOT, capture_output=True, check=True)
    first, _, last = done.stdout.splitlines()
    assert first == last == b"[]"


@pytest.mark.parametrize(
    ("modules", "heavy"),
    [
        ("langfocus.crawler.simulate.plan", {"scrapy", "numba", "scipy"}),
        ("langfocus.crawler.session.opening, langfocus.crawler.sources.archive", {"scrapy"}),
        ("langfocus.crawler.simulate.build", {"scrapy"}),
        ("langfocus.crawler.report.crawl", {"scrapy", "matplotlib", "jinja2"}),
    ],
)
def test_rooms_load_no_heavy_packages(modules: str, heavy: set[str]) -> None:
    line = [sys.executable, "-c", f"import sys, {modules}; print(*sys.modules)"]
    done = subprocess.run(line, cwd=ROOT, capture_output=True, text=True, check=True)
    assert not heavy & set(done.stdout.split())

"""Laws that every command of the project keeps."""

import argparse
import subprocess
import sys
from pathlib import Path

import pytest
from scrapy.cmdline import ScrapyArgumentParser, _get_commands_from_module
from scrapy.settings import Settings

from crawler.command import LangfocusCommand
from tests.support.commandline import call

ROOT = Path(__file__).parents[3]
DOCS = "".join(
    path.read_text(encoding="utf-8") for path in (ROOT / "README.md", *ROOT.glob("docs/**/*.md"))
)
OURS = {
    name: command
    for name, command in _get_commands_from_module("crawler.commands", inproject=True).items()
    if isinstance(command, LangfocusCommand)
}
NAMES = sorted(OURS)


def parser(name: str) -> argparse.ArgumentParser:
    """The parser of a command, made as Scrapy makes it."""
    made = ScrapyArgumentParser(conflict_handler="resolve")
    OURS[name].settings = Settings()
    OURS[name].add_options(made)
    return made


def test_every_module_of_the_package_that_has_a_command_is_found() -> None:
    assert NAMES == [
        "census",
        "compare",
        "crawl",
        "evaluate",
        "export",
        "graph",
        "identify",
        "merge",
        "report",
        "sample",
        "simulate",
        "takedown",
        "train",
        "warc",
    ]


@pytest.mark.parametrize("name", NAMES)
def test_a_command_has_a_class_a_line_a_description_and_a_place_in_the_docs(name: str) -> None:
    command = OURS[name]
    assert type(command).__name__ == f"{name.capitalize()}Command"
    assert len(command.long_desc()) > len(command.short_desc()) > 10
    assert not command.short_desc().endswith(".")
    assert f"langfocus {name}" in DOCS


@pytest.mark.parametrize("name", NAMES)
def test_the_help_describes_every_option_and_has_an_example(name: str) -> None:
    made = parser(name)
    assert all(action.help for action in made._actions)
    text = made.format_help()
    assert "examples:" in text
    assert f"\n  langfocus {name} " in text
    assert "--json FILE" in text
    assert "scrapy crawl" not in text
    assert max(map(len, OURS[name].manual().splitlines())) <= 100


@pytest.mark.parametrize("name", NAMES)
def test_an_unknown_option_is_one_line_and_exit_code_2(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    command = OURS[name]
    given, args = parser(name).parse_known_args(["x", "--colour", "red"])
    command.exitcode = 0
    command.run(args, given)
    assert command.exitcode == 2
    printed = capsys.readouterr()
    assert (printed.out, printed.err) == (
        "",
        "langfocus: there is no option --colour; see --help\n",
    )


@pytest.mark.parametrize("name", NAMES)
def test_a_file_in_a_folder_that_does_not_exist_is_refused_before_anything_is_done(
    name: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    command, path = OURS[name], tmp_path / "none" / "x.json"
    given, args = parser(name).parse_known_args(["x", "--json", str(path)])
    command.exitcode = 0
    command.run(args, given)
    assert command.exitcode == 2
    assert capsys.readouterr().err == (f"langfocus: {path}: its folder does not exist\n")


def test_a_spider_that_does_not_exist_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert call("crawl", "other", "-a", "lang=de") == 2
    assert capsys.readouterr().err == "langfocus: there is no spider 'other'\n"
    assert call("crawl", "langfocsu", "-a", "lang=de") == 2
    said = "langfocus: there is no spider 'langfocsu'; did you mean 'langfocus'?\n"
    assert capsys.readouterr().err == said


def test_help_is_no_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert call("report", "--help") == 0
    assert "RUN_FOLDER" in capsys.readouterr().out


class Failing(LangfocusCommand):
    """A command that ends with an error."""

    usage = summary = description = json_help = ""

    def __init__(self, error: BaseException) -> None:
        super().__init__()
        self.error = error

    def carry_out(self, args: list[str], opts: argparse.Namespace) -> None:
        raise self.error


def ended(error: BaseException) -> int:
    command = Failing(error)
    command.run([], argparse.Namespace(json=None))
    return command.exitcode


def errors() -> list[tuple[BaseException, int, str]]:
    from classifiers.errors import MissingPackageError, ModelError, StudyError
    from crawler.errors import GraphError, RunFolderError, SettingError

    return [
        (SettingError("pages=x"), 2, "pages=x"),
        (StudyError("no folds"), 2, "no folds"),
        (RunFolderError("no run"), 1, "no run"),
        (GraphError("two\nlines"), 1, "two lines"),
        (ModelError("no model"), 1, "no model"),
        (MissingPackageError("no-such-package", "cluster"), 1, "pip install 'langfocus[cluster]'"),
        (FileNotFoundError(2, "No such file", "x.tsv"), 1, "x.tsv"),
        (KeyboardInterrupt(), 130, "interrupted"),
        (KeyboardInterrupt("interrupted after 2"), 130, "interrupted after 2"),
    ]


@pytest.mark.parametrize(("error", "code", "said"), errors())
def test_a_failure_is_one_line_and_the_exit_code_of_its_kind(
    error: BaseException, code: int, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ended(error) == code
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("langfocus: ")
    assert said in printed.err
    assert printed.err.count("\n") == 1


def test_an_error_that_nobody_foresaw_is_not_hidden() -> None:
    with pytest.raises(ZeroDivisionError):
        ended(ZeroDivisionError())


def test_a_reader_that_goes_away_ends_a_command_without_a_message() -> None:
    command = [sys.executable, "-m", "scrapy", "identify", "languages"]
    with subprocess.Popen(command, cwd=ROOT, stdout=-1, stderr=-1) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 1


def test_the_list_of_commands_loads_neither_the_laboratory_nor_compilers() -> None:
    code = (
        "import sys\n"
        "from scrapy.cmdline import _get_commands_from_module as found\n"
        "found('crawler.commands', True)\n"
        "heavy = ('classifiers.papers', 'numba', 'sklearn', 'scipy', 'rich', 'matplotlib')\n"
        "print([name for name in heavy if name in sys.modules])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, check=True)
    assert done.stdout == b"[]\n"

"""The command `langfocus`, as it is typed."""

import os
import pkgutil
import sys
from importlib import import_module

import pytest

import langfocus.crawler.commands
from benchmarks.servers.processes import run_alone
from langfocus import __version__
from langfocus.command_line import main
from langfocus.crawler.commands import COMMANDS


def test_the_table_has_every_module_that_is_a_command() -> None:
    prefix = "langfocus.crawler."
    names = {name for _, name, _ in pkgutil.walk_packages(langfocus.crawler.__path__, prefix)}
    places = [name for name in names if name.startswith(f"{prefix}commands.") or "command" in name]
    found = {name for name in places if hasattr(import_module(name), "DESCRIPTION")}
    assert found == {one.module for one in COMMANDS.values()}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], ["langfocus crawl ", "langfocus report ", "langfocus identify urls"]),
        (["--help"], [f"\n  {name} " for name in COMMANDS]),
        (["--version"], [f"langfocus {__version__}\n"]),
    ],
)
def test_help_says_how_to_begin_and_lists_the_commands(
    arguments: list[str], message: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 0
    printed = capsys.readouterr().out
    assert all(text in printed for text in message)


@pytest.mark.parametrize(
    ("name", "advice"), [("craw", "did you mean 'crawl'?"), ("x", "langfocus --help")]
)
def test_an_unknown_command_is_one_line(
    name: str, advice: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([name]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert advice in line


@pytest.mark.parametrize(("stream", "arguments"), [("<&-", "identify urls"), ("2>&-", "crawl")])
def test_a_stream_that_the_caller_closed_is_empty_and_takes_all(
    stream: str, arguments: str
) -> None:
    code = "import sys; from langfocus.command_line import main; sys.exit(main())"
    line = ["sh", "-c", f'exec "$@" {stream}', "sh", sys.executable, "-c", code]
    done = run_alone(*line, *arguments.split(), environment=os.environ)
    assert (done.returncode, done.stdout, done.stderr) == (2 * (stream == "2>&-"), "", "")


def test_python_does_not_look_through_all_objects_at_the_end_of_a_command() -> None:
    code = (
        "import atexit, gc, sys; atexit.register(lambda: print(gc.get_freeze_count() > 9999)); "
        "from langfocus.command_line import main; sys.exit(main())"
    )
    done = run_alone(sys.executable, "-c", code, "identify", "urls", environment=os.environ)
    assert (done.returncode, done.stdout) == (0, "True\n")

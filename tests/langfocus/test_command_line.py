"""The command `langfocus`, as it is typed."""

import pkgutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import crawler.commands
from langfocus import __version__
from langfocus.command_line import COMMANDS, main


def test_the_table_has_every_module_that_is_a_command() -> None:
    names = {module.name for module in pkgutil.iter_modules(crawler.commands.__path__)}
    modules = {name: import_module(f"crawler.commands.{name}") for name in names}
    assert {name for name in names if hasattr(modules[name], "run")} == set(COMMANDS)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ([], ["langfocus crawl ", "langfocus report ", "langfocus identify urls"]),
        (["--help"], [f"\n  {name} " for name in COMMANDS]),
        (["--version"], [f"langfocus {__version__}\n"]),
    ],
)
def test_help_says_how_to_begin_and_lists_the_commands(
    arguments: list[str], told: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 0
    printed = capsys.readouterr().out
    assert all(text in printed for text in told)


@pytest.mark.parametrize(
    ("name", "advice"), [("craw", "did you mean 'crawl'?"), ("x", "langfocus --help")]
)
def test_an_unknown_command_is_one_line(
    name: str, advice: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([name]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert advice in line


def test_help_and_mistakes_load_nothing_heavy() -> None:
    code = (
        "import sys; from langfocus.command_line import main; main(['--help']); main(['x']);"
        "heavy = {'scrapy', 'twisted', 'numpy', 'numba', 'sklearn', 'crawler', 'classifiers'};"
        "sys.exit(bool(heavy & set(sys.modules)))"
    )
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)


def test_a_crawl_runs_in_an_empty_folder(tmp_path: Path) -> None:
    arguments = ["-a", "lang=de", "-a", "web=sample", "-a", "pages=10"]
    settings = ["-s", "JOBDIR=run", "-s", "LANGFOCUS_SAMPLE_HOSTS=300"]
    done = subprocess.run(
        [sys.executable, "-m", "langfocus", "crawl", *arguments, *settings],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "harvest rate" in done.stdout
    assert {path.name for path in tmp_path.iterdir()} == {"run"}

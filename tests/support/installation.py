"""Install a wheel or an archive of the sources where nothing else is, and use it as a person does.

    python tests/support/installation.py ARCHIVE [CONSTRAINTS]

Needs Python alone. The folder that it works in has folders `crawler` and `classifiers` of somebody
else, as half of all Scrapy projects have.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

SCRIPT = """\
import langfocus
import classifiers, crawler

assert crawler.OWNER == classifiers.OWNER == "somebody else"
page = "<p>Der Wald ist im Herbst sehr still, und die Wege sind voller Blätter und Kastanien.</p>"
print(langfocus.identify_page(page, "http://a.example/").language)
"""
NAMES = """\
from importlib.metadata import files

print(*sorted({path.parts[0] for path in files("langfocus") if path.parts[0] != ".."}))
"""
COMMANDS = """\
langfocus --version
python -m langfocus crawl -a lang=de -a web=sample -a pages=60 -s JOBDIR=run
langfocus report run
langfocus export run --output texts.txt
langfocus compare -a lang=de -a web=sample -a pages=20 -a strategies=svm
langfocus identify pages page.html
langfocus graph --generate graph --scale 0.0003
langfocus simulate graph
scrapy startproject crawler project
"""


def main() -> None:
    archive = Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory(prefix="langfocus") as folder:
        environment, work = Path(folder, "environment"), beside_others(Path(folder, "work"))
        venv.create(environment, with_pip=True)
        pip = [str(environment / "bin/python"), "-m", "pip", "install", "--quiet", str(archive)]
        subprocess.run(pip, cwd=folder, env=os.environ | locked(Path(folder)), check=True)
        names, *others = output(environment, work, "python", "-c", NAMES).split()
        assert (names, len(others)) == ("langfocus", 1), (names, others)
        assert others[0].endswith(".dist-info")
        assert output(environment, work, "python", "script.py") == "de\n"
        for command in COMMANDS.splitlines():
            print(f"$ {command}", flush=True)
            output(environment, work, *command.split())
        summary = json.loads((work / "run/summary.json").read_text(encoding="utf-8"))
        assert (summary["pages"], summary["finish_reason"]) == (60, "pages"), summary
        assert (work / "texts.txt").stat().st_size > 0
    print(f"{archive.name}: installed, one name, all commands run")


def locked(folder: Path) -> dict[str, str]:
    """Return the variables by which pip keeps to the constraints, also for what builds packages."""
    if not sys.argv[2:]:
        return {}
    shutil.copy(sys.argv[2], folder / "constraints.txt")  # pip would divide a path with a space
    return dict.fromkeys(("PIP_CONSTRAINT", "PIP_BUILD_CONSTRAINT"), "constraints.txt")


def beside_others(folder: Path) -> Path:
    """Make a folder with a script, a page, and packages that have the names of our folders."""
    for name in ("crawler", "classifiers"):
        (folder / name).mkdir(parents=True)
        (folder / name / "__init__.py").write_text('OWNER = "somebody else"\n', encoding="utf-8")
    (folder / "script.py").write_text(SCRIPT, encoding="utf-8")
    (folder / "page.html").write_text("<p>Les chats dorment sur le toit.</p>", encoding="utf-8")
    return folder


def output(environment: Path, folder: Path, program: str, *arguments: str) -> str:
    """Return what a program of the environment prints; its errors end the test."""
    variables = {
        name: os.environ[name] for name in ("HOME", "LANG", "TMPDIR") if name in os.environ
    }
    variables |= {"PATH": f"{environment / 'bin'}{os.pathsep}/usr/bin{os.pathsep}/bin"}
    done = subprocess.run(
        [environment / "bin" / program, *arguments],
        cwd=folder,
        env=variables,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{program} {' '.join(arguments)}\n{done.stdout}{done.stderr}"
    return done.stdout


if __name__ == "__main__":
    main()

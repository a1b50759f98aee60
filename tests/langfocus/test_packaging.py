"""The project's package: wheel, requirements, imports and lock file."""

import ast
import gzip
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from collections.abc import Mapping, Sequence
from functools import cache, partialmethod
from importlib.metadata import packages_distributions
from itertools import chain
from pathlib import Path
from sysconfig import get_path
from types import SimpleNamespace
from zipfile import ZipFile

import pytest
from hatchling.builders.sdist import SdistBuilder
from hatchling.builders.wheel import WheelBuilder
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.support.crawls import ROOT, environment
from tests.support.installation import beside_others

PACKAGES = ("langfocus", "crawler", "classifiers")
LINKED = ("crawler", "classifiers", "seeds")
"""Folders of the checkout that are in the package by links."""
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
UNPUBLISHED = {"ray"}
"""Packages that may be used if they are there, and that no extra brings."""
NOT_IMPORTED = {
    "uvloop": "Scrapy loads the loop that the settings name",
    "lxml-html-clean": "trafilatura asks for it by an extra of lxml that older pip do not find",
    "pytest-xdist": "`make test` runs several processes",
    "furo": "the theme of the site",
    "myst-parser": "the site reads Markdown",
    "scrapy-download-handlers-incubator": "Scrapy loads the handler that a setting names",
    "langfocus": "an extra may hold others",
}
"""What is listed though no file imports it, and why."""
DEVELOPERS = {"test", "lint", "docs", "engines"}
"""Extras that are for the work on the project: commands, and rivals of benchmarks."""
TOOLS = ("hatchling", "editables", "setuptools", "build", "twine", "uv")
"""What builds and checks packages."""
STDLIB = sys.stdlib_module_names | {"compression"}  # of Python 3.14
PYTHONS = ("3.11", "3.12", "3.13", "3.14")


def built(version: str, folder: Path, root: Path = ROOT) -> Path:
    """Build a wheel (`standard` or `editable`) and return the folder with its files."""
    with pytest.MonkeyPatch.context() as patch:
        stored = SimpleNamespace(**vars(zipfile) | {"ZIP_DEFLATED": zipfile.ZIP_STORED})
        patch.setattr("hatchling.builders.wheel.zipfile", stored)  # packing takes 3 s
        (wheel,) = WheelBuilder(str(root)).build(directory=str(folder), versions=[version])
    with ZipFile(wheel) as archive:
        archive.extractall(folder / "files")
    return folder / "files"


def files_of(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder with the files of the wheel."""
    return built("standard", tmp_path_factory.mktemp("wheel"))


class TestWheel:
    def test_it_brings_one_name(self, wheel: Path) -> None:
        names = {path.name for path in wheel.iterdir()}
        assert {name for name in names if not name.endswith(".dist-info")} == {"langfocus"}

    def test_it_has_every_file_of_the_linked_folders(self, wheel: Path) -> None:
        files = {
            f"langfocus/{path.relative_to(ROOT)}".replace("langfocus/langfocus/", "langfocus/")
            for folder in ("langfocus", *LINKED)
            for path in (ROOT / folder).rglob("*")
            if path.is_file() and "__pycache__" not in path.parts
        }
        assert (
            len([name for name in files if re.fullmatch(r"langfocus/seeds/\w+\.txt", name)]) >= 100
        )
        assert "langfocus/classifiers/models/url-v3.npz" in files
        assert files <= files_of(wheel)

    def test_it_has_the_license_and_the_notice(self, wheel: Path) -> None:
        kept = {path.name for path in wheel.glob("*.dist-info/licenses/**/*") if path.is_file()}
        assert kept == {"LICENSE", "NOTICE", "Apache-2.0.txt"}

    def test_it_is_typed_and_has_the_command(self, wheel: Path) -> None:
        assert (wheel / "langfocus/py.typed").is_file()
        assert any(wheel.glob("*.dist-info/entry_points.txt"))

    def test_the_archive_of_the_sources_has_each_file_once_and_builds_the_same_wheel(
        self, wheel: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        unpacked = partialmethod(gzip.GzipFile.__init__, compresslevel=0)  # packing takes 30 s
        with monkeypatch.context() as patch:
            patch.setattr(gzip.GzipFile, "__init__", unpacked)
            builder = SdistBuilder(str(ROOT))
            (archive,) = builder.build(directory=str(tmp_path), versions=["standard"])
        with tarfile.open(archive) as tar:
            names = tar.getnames()
            tar.extractall(tmp_path, filter="data")
        assert len([name for name in names if name.endswith("/url-v3.npz")]) == 1
        (source,) = (path for path in tmp_path.iterdir() if path.is_dir())
        assert files_of(built("standard", tmp_path / "again", source)) == files_of(wheel)


@pytest.mark.parametrize("version", ["standard", "editable"])
def test_a_script_runs_beside_foreign_folders_of_the_same_names(
    version: str, wheel: Path, tmp_path: Path
) -> None:
    """Without `site` no other installation of langfocus is found, but its dependencies are."""
    installed = tmp_path / "wheel"
    if version == "editable":
        installed = built(version, installed)
    else:
        shutil.copytree(wheel, installed)
        # Its functions as Python: numba would compile them for ten seconds.
        with (installed / "langfocus/classifiers/compiled.py").open("a", encoding="utf-8") as file:
            file.write("compiled = compiled_for_many = inlined = lambda function: function\n")
            file.write("np.seterr(over='ignore')\n")
    work = beside_others(tmp_path / "work")
    script = (work / "script.py").read_text(encoding="utf-8")
    start = f"import site\nsite.addsitedir({str(installed)!r})\n"
    where = "from pathlib import Path\nprint(Path(langfocus.__file__).resolve())\n"
    (work / "script.py").write_text(start + script + where, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-S", "script.py"],
        cwd=work,
        env={**environment(None), "PYTHONPATH": get_path("purelib")},
        capture_output=True,
        text=True,
        check=False,
    )
    root = ROOT if version == "editable" else installed
    assert (done.stdout, done.stderr) == (f"de\n{root / 'langfocus/__init__.py'}\n", "")


def test_an_editable_installation_finds_one_name(tmp_path: Path) -> None:
    installed = built("editable", tmp_path)
    (finder,) = installed.glob("*.py")
    mapped = re.findall(r"map_module\(['\"]([\w.]+)['\"]", finder.read_text(encoding="utf-8"))
    assert mapped
    assert {name.partition(".")[0] for name in mapped} == {"langfocus"}


TWICE = """
import sys
from collections import defaultdict
from pathlib import Path
from scrapy.cmdline import execute

try:
    execute(sys.argv)
except SystemExit as ended:
    assert not ended.code, ended.code
names = defaultdict(list)
for name, module in list(sys.modules.items()):
    file = getattr(module, "__file__", None)
    own = file and Path(file).resolve().is_relative_to(Path.cwd())
    if own and "site-packages" not in Path(file).parts:
        names[Path(file).resolve()].append(name)
print(len(names), {name.partition(".")[0] for each in names.values() for name in each})
print([each for each in names.values() if len(each) > 1])
"""


def test_a_crawl_in_a_checkout_imports_no_module_under_two_names(tmp_path: Path) -> None:
    crawl = "crawl langfocus -a lang=de -a web=sample -a pages=5 -L ERROR".split()
    done = subprocess.run(
        [sys.executable, "-c", TWICE, *crawl, "-s", f"JOBDIR={tmp_path / 'run'}"],
        cwd=ROOT,
        env=environment(None),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    of_project, twice = done.stdout.splitlines()[-2:]
    assert re.fullmatch(r"\d{2,} \{'langfocus'\}", of_project)
    assert twice == "[]"


def names(requirements: list[str]) -> set[str]:
    """Return the names of the requirements that hold for this Python and this system."""
    read = map(Requirement, requirements)
    return {
        canonicalize_name(each.name) for each in read if not each.marker or each.marker.evaluate()
    }


EXTRAS: Mapping[str, list[str]] = PROJECT["optional-dependencies"]
DEPENDENCIES = names(PROJECT["dependencies"])
OPTIONAL = names([each for extra in EXTRAS.values() for each in extra])


@cache
def imported(path: Path) -> list[tuple[str, bool]]:
    """Return the packages of others that a file imports, and whether it does so at its top."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return [
        (package, node in tree.body)
        for node in ast.walk(tree)
        for module in _modules(node)
        if (package := module.partition(".")[0]) not in STDLIB and package not in PACKAGES
    ]


def _modules(node: ast.AST) -> list[str]:
    match node:
        case ast.Import():
            return [alias.name for alias in node.names]
        case ast.ImportFrom(module=str(module), level=0):
            return [module]
        case ast.Call(
            func=ast.Name(id=called) | ast.Attribute(attr=called),
            args=[ast.Constant(value=str(module)), *_],
        ) if called in ("import_module", "optional"):
            return [module]
    return []


@cache
def _installed() -> Mapping[str, list[str]]:
    return packages_distributions()


def distributions(package: str) -> set[str]:
    """Return the names that may be listed for a package that is imported."""
    return set(map(canonicalize_name, [*_installed().get(package, []), package]))


def files(*folders: str) -> list[Path]:
    return [path for folder in folders for path in sorted((ROOT / folder).rglob("*.py"))]


def test_what_is_imported_is_listed() -> None:
    missing = []
    for path in files(*PACKAGES):
        for package, is_at_top in imported(path):
            allowed = DEPENDENCIES if is_at_top else DEPENDENCIES | OPTIONAL | UNPUBLISHED
            if not distributions(package) & allowed:
                missing.append(f"{path.relative_to(ROOT)} imports {package}")
    assert missing == []


@pytest.mark.parametrize(
    ("listed", "folders"),
    [
        (PROJECT["dependencies"], PACKAGES),
        *((EXTRAS[extra], PACKAGES) for extra in EXTRAS if extra not in DEVELOPERS),
        (EXTRAS["test"], ("tests", *PACKAGES)),
        (EXTRAS["docs"], ("docs",)),
    ],
)
def test_what_is_listed_is_imported(listed: list[str], folders: Sequence[str]) -> None:
    known = {package for path in files(*folders) for package, _ in imported(path)}
    found = {name for package in known for name in distributions(package)}
    assert names(listed) - found - NOT_IMPORTED.keys() == set()


def test_every_exception_is_listed_and_not_imported() -> None:
    known = {package for path in files(*PACKAGES, "tests", "docs") for package, _ in imported(path)}
    found = {name for package in known for name in distributions(package)}
    assert NOT_IMPORTED.keys() <= DEPENDENCIES | OPTIONAL
    assert NOT_IMPORTED.keys() & found == set()


LOCK = [
    Requirement(line)
    for line in (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    if not line.startswith("#")
]


class TestLock:
    def test_each_line_is_one_version_and_no_address(self) -> None:
        assert [line for line in LOCK if not re.fullmatch(r"==[^,*]+", str(line.specifier))] == []
        assert [line for line in LOCK if line.url] == []

    @pytest.mark.parametrize("python", PYTHONS)
    @pytest.mark.parametrize("system", ["linux", "darwin"])
    def test_it_has_one_version_of_each_package_that_is_listed_and_of_what_builds(
        self, python: str, system: str
    ) -> None:
        here = {
            "python_version": python,
            "python_full_version": f"{python}.9",
            "sys_platform": system,
        }
        listed = [*PROJECT["dependencies"], *chain(*EXTRAS.values()), *TOOLS]
        wrong = []
        for wanted in map(Requirement, listed):
            if wanted.name == PROJECT["name"] or (
                wanted.marker and not wanted.marker.evaluate(here)
            ):
                continue
            locked = [
                str(line.specifier).removeprefix("==")
                for line in LOCK
                if canonicalize_name(line.name) == canonicalize_name(wanted.name)
                and (not line.marker or line.marker.evaluate(here))
            ]
            if len(locked) != 1 or not wanted.specifier.contains(locked[0], prereleases=True):
                wrong.append(f"{wanted}: {locked}")
        assert wrong == [], "renew it: make lock"

"""The documentation as a site: `make docs` builds it, without the network, in `build/site`."""

import re
import sys
from pathlib import Path
from typing import Any

from docutils import nodes
from pygments.lexers.special import TextLexer
from sphinx.application import Sphinx
from sphinx.highlighting import lexers

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "docs")]

import langfocus  # noqa: E402  the checkout's own

project = "langfocus"
release = langfocus.__version__
html_title = f"langfocus {release}"
extensions = ["myst_parser", "sphinx.ext.autodoc", "declared"]
default_role = "literal"  # docstrings have single backticks around code
autodoc_typehints = "none"
html_theme = "furo"  # with the fonts of the reader: a page loads nothing from elsewhere
_SIZES = {"toc-title-font-size": "0.75rem", "toc-font-size": "0.875rem"}  # 11 px or more
html_theme_options = {"light_css_variables": _SIZES}
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = html_show_copyright = False
myst_heading_anchors = 4
lexers["tsv"] = TextLexer()

_OUTSIDE = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "classifiers/models/README.md": "model-card.md",
}
"""Files of the project outside of `docs` -> their page on the site."""
_LINK = re.compile(r"\]\(((?:\.\./)+)([\w./-]+\.md)(?:#[\w-]+)?\)")


def _links(app: Sphinx, docname: str, source: list[str]) -> None:
    """Let links to files outside of `docs` lead to their pages."""
    here = Path(docname).parent

    def page(link: re.Match[str]) -> str:
        if (target := _OUTSIDE.get(link[2])) is None:
            return link[0]
        return f"]({'../' * len(here.parts)}{target})"

    source[0] = _LINK.sub(page, source[0])


def _apart(app: Sphinx, tree: nodes.document) -> None:
    """Leave the research notes out of the navigation, without a warning about that."""
    if (name := app.env.docname).startswith("research/"):
        app.env.metadata[name]["orphan"] = True


def _focusable(
    app: Sphinx, name: str, template: str, context: dict[str, Any], tree: object
) -> None:
    """Let a keyboard scroll the blocks of code, which are wider than a phone."""
    if "body" in context:
        context["body"] = context["body"].replace("<pre>", '<pre tabindex="0">')


def setup(app: Sphinx) -> None:
    """Connect the changes of this project."""
    app.connect("source-read", _links)
    app.connect("doctree-read", _apart)
    app.connect("html-page-context", _focusable)

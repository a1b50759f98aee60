"""HTML files made from `templates/`: one file each, without scripts and network requests.

Every text is escaped, because titles, URLs and names of hosts come from the Web.
"""

from functools import cache
from typing import TYPE_CHECKING, Any

from crawler.report.formatting import printable

if TYPE_CHECKING:
    from jinja2 import Environment


def render(template: str, **values: Any) -> str:
    """The text of the HTML file from a template and its values."""
    return _environment().get_template(template).render(values)


@cache
def _environment() -> "Environment":
    # A crawl imports this module at its start and needs Jinja2 at its end only.
    from jinja2 import Environment, PackageLoader, StrictUndefined

    return Environment(
        loader=PackageLoader("crawler.report"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_shown,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


def _shown(value: Any) -> Any:
    """A value without invisible letters, which could hide a part of an address."""
    is_markup = hasattr(value, "__html__")
    return value if is_markup else printable(str(value))

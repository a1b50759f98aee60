"""The robots.txt files of the sample web."""

from crawler.sources.sample.hosts import SampleHost
from crawler.sources.sample.sites import PRIVATE

BOM = b"\xef\xbb\xbf"
RULES = {
    "open": "User-agent: *\nDisallow:\n",
    "parts": f"User-agent: *\nDisallow: {PRIVATE}\nDisallow: /*/private/\nDisallow: /search\n",
    "bom": "User-agent: *\nDisallow: /search\n",
    "delay": "User-agent: *\nCrawl-delay: 1\nDisallow: /search\n",
    "closed": "User-agent: *\nDisallow: /\n",
}


def robots_txt(host: SampleHost) -> bytes | None:
    """Return the bytes of the file, None if the host answers 404."""
    if host.robots == "absent":
        return None
    return (BOM if host.robots == "bom" else b"") + RULES[host.robots].encode()

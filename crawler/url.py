"""Normalised URLs, page keys shared by several URLs, hosts and domains.

A page's key ignores all URL parts that do not change the page. Keys are only compared, never
fetched, since a server may use a parameter differently. `docs/urls.md` has the numbers of pages
merged by these rules, rightly and wrongly.
"""

import re
from collections.abc import Set
from functools import lru_cache, partial
from hashlib import blake2b
from string import ascii_letters, digits
from typing import Final

from langfocus.classifiers.tables.suffixes import suffix_reader
from langfocus.classifiers.urls.standard import MAX_HOST, MAX_LABEL, absolute

MAX_URL_LENGTH = 2048
"""Characters of the longest URL; longer ones are session ids, loops and mistakes."""

# A normalised URL that surely needs no change: its host is a name without Punycode.
_LABEL = r"(?!xn--)[a-z0-9_-]{1,63}+"
_TEXT = r"[A-Za-z0-9._~!$()*+,;=:@-]++"
# Escapes of characters that a URL may not contain or that unescaped mean something else.
_ESCAPED = r"%(?:[0189A-F][0-9A-F]|2[0-9A-CF]|3[A-F]|40|5[B-E]|60|7[B-DF])"
_NORMAL = re.compile(
    rf"https?://(?![^/]{{{MAX_HOST + 1}}})(?:{_LABEL}\.)++(?!xn--)[a-z][a-z0-9_-]{{0,62}}+"
    rf"(?:/(?!\.)(?:{_TEXT}|[&']|{_ESCAPED})*+)++"
    rf"(?:\?(?!&)(?:{_TEXT}|[/?]|{_ESCAPED}|&(?!&|$))++)?"
)
# The parts of a parsed URL: scheme, host, port, path and query.
_PARTS = re.compile(r"(https?://)(?:[^/@]*@)?([^/:\[]+|\[[^]]*\])(:[0-9]+)?(/[^?]*)(?:\?(.*))?")
# A host for a look-up: a name in ASCII or an address.
_HOST = re.compile(rf"(?:[a-z0-9_-]{{1,{MAX_LABEL}}}\.)*[a-z0-9_-]{{1,{MAX_LABEL}}}|\[[0-9a-f:]+\]")
# An escape, unless unescaping would complete another escape with a "%" before.
_ESCAPE = re.compile(r"(?<!%)(?<!%[0-9A-Fa-f])%([0-9A-Fa-f]{2})")
# Characters that browsers send and RFC 3986 forbids; some HTTP clients refuse them.
_FORBIDDEN = re.compile(r"[][|{}^`\\]")
_NEVER_ESCAPED = frozenset(ascii_letters + digits + "-._~")
_SCHEME_HOST = re.compile(r"https?://([^/?#]*)", re.IGNORECASE)
_HOST_NAME = re.compile(r"https?://(\[[^\]/?#]*\]|[^/?#:]*)", re.IGNORECASE)

_TITLED = frozenset({"wiki", "tag", "tags", "topic", "topics"})
"""Folders whose pages are named by their titles."""

_UNWANTED_SUFFIXES = frozenset(
    # images, sound, film
    "jpg jpeg png gif bmp tif tiff svg svgz webp avif ico heic psd ai eps drw mng pct pst "
    "mp3 wma ogg oga opus wav ra rm aac flac mid au aiff m4a m3u m3u8 "
    "mp4 mpg mpeg avi mov qt swf flv wmv webm mkv m4v 3gp 3g2 asf ogv ts "
    # style sheets, scripts, fonts
    "css js mjs map less scss woff woff2 ttf otf eot "
    # packed files, programs, office documents
    "zip rar 7z tar gz tgz bz2 xz lz iso dmg img bin exe msi apk deb rpm jar war dll torrent "
    "pdf ps doc docx odt rtf xls xlsx ods csv ppt pptx pps odp odg epub mobi".split()
)

_DOCUMENTS: Final = frozenset(("pdf", "docx", "odt", "epub"))

_CACHED_HOSTS: Final = 16_384
_CACHED_URLS: Final = 16_384  # several steps ask for the same facts of a page's links, or of seeds

TRACKING: Final = frozenset(
    "__hsfp __hssc __hstc __s _branch_match_id _ga _gl _hsenc _kx _openstat action_object_map "
    "action_ref_map action_type_map bsft_clkid bsft_uid cmpid dclid fb_action_ids fb_action_types "
    "fb_comment_id fb_ref fb_source fbclid ga_campaign ga_content ga_medium ga_place ga_source "
    "ga_term gbraid gclid gclsrc guce_referrer guce_referrer_sig hsa_acc hsa_ad hsa_cam hsa_grp "
    "hsa_kw hsa_la hsa_mt hsa_net hsa_ol hsa_src hsa_tgt hsa_ver hsctatracking irclickid "
    "itm_campaign itm_content itm_medium itm_source itm_term mc_cid mc_eid mkt_tok ml_subscriber "
    "ml_subscriber_hash msclkid mtm_campaign mtm_cid mtm_content mtm_group mtm_keyword mtm_medium "
    "mtm_placement mtm_source oly_anon_id oly_enc_id pk_campaign pk_cid pk_medium pk_source "
    "rb_clickid s_cid twclid unicorn_click_id vero_conv vero_id wbraid wickedid wt_mc yclid "
    "ysclid".split()
)
"""Parameters that identify a visitor's origin; all `utm_` parameters do too.

A name is listed if two or more of these lists have it for all sites: AdGuard's TrackParamFilter,
the lists of Brave and Firefox (counted as one), ClearURLs' global rules, and tidy-url 1.18.3, read
in November 2026. The names are in lower case.
"""

_ORIGIN = re.compile(r"https?://[^/]*+")
_SLASHES = re.compile(r"//+")
# Session ids in a path: of Java (Heritrix, Nutch) and of ASP.NET without cookies (Wayback Machine).
_PATH_SESSION = re.compile(
    r";jsessionid=[^/?;]*|/\((?:[a-z]\([0-9a-z]{24}\))+\)(?=/)", re.IGNORECASE
)
# Session ids in a query: the usual names of the parameters, with long random values.
_LONG = re.compile(r"[\w.!~%-]{16,}", re.ASCII).fullmatch
_RANDOM = re.compile(r"[0-9a-z]{32}", re.IGNORECASE | re.ASCII).fullmatch
_SESSIONS: Final = {
    **dict.fromkeys("phpsessid jsessionid sessionid bv_sessionid oscsid zenid".split(), _LONG),
    **dict.fromkeys("sess_id sessid session_id aspsessionid".split(), _LONG),
    **dict.fromkeys("sid s jsid lsid".split(), _RANDOM),
    "cfid": re.compile("[0-9]{4,}").fullmatch,
    "cftoken": re.compile(r"[\w-]{6,}", re.ASCII).fullmatch,
}
# Some servers write ";" or a second "?" before the session id of a query.
_PIECE = re.compile(r"(?<![^?&;])[^?&;]+[?&;]?")


def normalise(url: str, base: str | None = None) -> str | None:
    """Return the normalised URL, which is queued, fetched and recorded; None for an unusable URL.

    Links are resolved as in browsers (`classifiers.urls.standard`), relative links against `base`.
    Beyond the standard, user names, the final dot of a host and empty parameters are removed,
    escapes are in upper case, and characters are escaped only where RFC 3986 requires it. Path and
    query do not change otherwise, since `/A` and `/a` may be two pages. Unusable are URLs other
    than http(s), without a resolvable host, or longer than `MAX_URL_LENGTH`.
    """
    if len(url) > MAX_URL_LENGTH:
        url = url.partition("#")[0]
    if len(url) > MAX_URL_LENGTH:
        return None
    if _NORMAL.fullmatch(url):
        return url
    found = absolute(url, base)
    parts = _PARTS.fullmatch(found) if found else None
    return _tidy(parts) if parts else None


def _tidy(parts: re.Match[str]) -> str | None:
    scheme, host, port, path, query = parts.groups("")
    host = host.removesuffix(".")
    if len(host) > MAX_HOST or not _HOST.fullmatch(host):
        return None
    path = _with_needed_escapes(path)
    query = "&".join(filter(None, _with_needed_escapes(query).split("&")))
    normal = f"{scheme}{host}{port}{path}{'?' if query else ''}{query}"
    return normal if len(normal) <= MAX_URL_LENGTH else None


def _with_needed_escapes(text: str) -> str:
    """Return a path or a query with escapes in upper case, where needed and only there."""
    if "%" in text:
        text = _ESCAPE.sub(_needed, text)
    return _FORBIDDEN.sub(lambda sign: f"%{ord(sign[0]):02X}", text)


def _needed(escape: re.Match[str]) -> str:
    sign = chr(int(escape[1], 16))
    return sign if sign in _NEVER_ESCAPED else escape[0].upper()


@lru_cache(_CACHED_URLS)
def host_of(url: str) -> str:
    """Return the host of a normalised URL, in lower case, without port and one leading `www.`.

    `wetter.tagesschau.de` and `tagesschau.de` are two hosts, `www.twitter.com` and `twitter.com`
    one host (Baykan 2013, 5.2). All ports of a name are one host, because they are one machine.
    """
    match = _HOST_NAME.match(url)
    return match[1].lower().removeprefix("www.") if match else ""


def origin_of(url: str) -> str:
    """Return scheme and full host of a URL, the scope of one robots.txt (RFC 9309, 2.3)."""
    match = _SCHEME_HOST.match(url)
    return match[0].lower() if match else ""


@lru_cache(_CACHED_HOSTS)
def domain_of(host: str) -> str:
    """Return the registered domain of a host: its shortest part that can be registered.

    `a.b.example.co.uk` is in `example.co.uk`. Sub-domains are free, so a farm can have any number;
    a registered domain costs money. Blogs of a platform (`me.github.io`) are registered domains
    too. An address and a public suffix are their own domains.
    """
    return _registered(host, has_platforms=True)


@lru_cache(_CACHED_HOSTS)
def zone_of(host: str) -> str:
    """Return the registered domain of a host; a platform and all its blogs are one domain.

    `me.github.io` is in `github.io`, because its servers and name servers are the platform's.
    """
    return _registered(host, has_platforms=False)


def _registered(host: str, *, has_platforms: bool) -> str:
    found = suffix_reader(has_platforms=has_platforms)(host)
    if found.suffix:
        return f"{found.domain}.{found.suffix}" if found.domain else host
    is_address = ":" in host or host.rpartition(".")[2].isdigit()
    return host if is_address else ".".join(host.rsplit(".", 2)[-2:])


@lru_cache(_CACHED_URLS)
def directory_of(url: str, depth: int = 1) -> str:
    """Return the server of a URL with the first `depth` directories of its path.

    `http://a.com/user1/x.html` is in `a.com/user1/`, `http://a.com/about.html` in `a.com/`
    (Tamura 2007, 4.3). In the paper `depth` is 1. With 3, `/docs/2.4/de/x.html` is in
    `/docs/2.4/de/`. Doubled slashes count as one.
    """
    match = _SCHEME_HOST.match(url)
    path = url[match.end() :].partition("?")[0] if match else ""
    directories = [name for name in path.split("/")[1:-1] if name][:depth]
    return "/".join([host_of(url), *directories, ""])


def fingerprint(url: str) -> int:
    """Return the 64-bit signed fingerprint of a normalised URL's page.

    URLs of the same page have equal fingerprints (`page_key`).
    """
    key = page_key(url).encode("utf-8", "replace")
    return int.from_bytes(blake2b(key, digest_size=8).digest(), "big", signed=True)


def page_key(url: str) -> str:
    """Return the key shared by all normalised URLs of a page.

    Ignored are tracking parameters (`TRACKING`), session ids as in Heritrix, Nutch and courlan, the
    order of parameters (equal names keep their order), and doubled slashes.
    """
    if not ("?" in url or ";" in url or "//" in url[8:] or "(" in url):
        return url
    address, mark, query = url.partition("?")
    origin = _ORIGIN.match(address)
    start = origin.end() if origin else 0
    path = _SLASHES.sub("/", _PATH_SESSION.sub("", address[start:]))
    if mark:
        query = _known_parameters(query)
    return f"{address[:start]}{path}?{query}" if query else address[:start] + path


def spelling_key(url: str) -> str:
    """Return the key shared by all spellings of a page between which servers redirect.

    Beyond `page_key`, scheme, one leading `www.` and the final slash of the path are ignored. Two
    such URLs may be two pages; a redirect between them shows that they are one page.
    """
    address, mark, query = page_key(url).partition("?")
    rest = address.partition("://")[2].removeprefix("www.").removesuffix("/")
    return f"{rest}{mark}{query}"


def _known_parameters(query: str) -> str:
    """Return the query parameters that may distinguish pages, sorted by name."""
    if ";" in query or "?" in query:
        shorter = _PIECE.sub(_unless_session, query)
        query = query if shorter == query else shorter.rstrip("?&;")
    if "&" not in query:
        return "" if _is_ignored(query) else query
    kept = [parameter for parameter in query.split("&") if not _is_ignored(parameter)]
    return "&".join(sorted(kept, key=lambda parameter: parameter.partition("=")[0]))


def _is_ignored(parameter: str) -> bool:
    name, _, value = parameter.partition("=")
    name = name.lower()
    return name in TRACKING or name[:4] == "utm_" or _is_session(name, value)


def _is_session(name: str, value: str) -> bool:
    # Some servers begin the name with "_"; Microsoft's add eight random letters to its end.
    name = name.lstrip("_")
    is_random = _SESSIONS.get("aspsessionid" if name.startswith("aspsessionid") else name)
    return is_random is not None and is_random(value) is not None


def _unless_session(piece: re.Match[str]) -> str:
    name, _, value = piece[0].rstrip("?&;").partition("=")
    return "" if _is_session(name.lower(), value) else piece[0]


def is_site_file(url: str) -> bool:
    """Return True for the URL of the robots.txt or the tdmrep.json of an origin."""
    return url.partition("://")[2].partition("/")[2] in ("robots.txt", ".well-known/tdmrep.json")


def is_unwanted_file(url: str, suffixes: Set[str] = _UNWANTED_SUFFIXES) -> bool:
    """Return True for the extension of a multimedia file, style sheet or download.

    Such links are ignored and do not count for the host cap (Baykan 2013, 5.2). In a folder of
    `_TITLED`, the last part of the path is a page title, such as /wiki/Node.js.
    """
    path = url.partition("?")[0]
    name = path[path.rfind("/") + 1 :]
    suffix = name[name.rfind(".") + 1 :]
    return (
        len(suffix) <= 7
        and suffix != name
        and suffix.lower() in suffixes
        and path.count("/") > 2
        and path[: -len(name)].rsplit("/", 2)[-2].lower() not in _TITLED
    )


is_document_file = partial(is_unwanted_file, suffixes=_DOCUMENTS)
"""Return True for the extension of a document that `-a documents` reads."""

is_unwanted_without_documents = partial(is_unwanted_file, suffixes=_UNWANTED_SUFFIXES - _DOCUMENTS)
"""Return True for an unwanted file that is no such document."""

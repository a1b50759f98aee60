"""Which URLs are one page: the key of a URL ignores all that does not change the page.

A key is compared and never fetched, since a server may give a parameter another meaning.
`docs/urls.md` tells how many pages of the Web the rules merge, and how many of them wrongly.
"""

import re
from typing import Final

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
"""Names of parameters that tell a server where a visitor came from, beside all of `utm_`.

A name is here if two or more of these lists have it for all sites: AdGuard's TrackParamFilter, the
lists of Brave and Firefox (which count as one), ClearURLs' global rules, and tidy-url 1.18.3, read
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


def page_key(url: str) -> str:
    """Return the text that all normalised URLs of a page share.

    Ignored are tracking parameters (`TRACKING`), session ids as Heritrix, Nutch and courlan know
    them, the order of the parameters (those with the same name keep theirs), and doubled slashes.
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
    """Return the text that the spellings of a page share between which servers redirect.

    Beyond `page_key`, scheme, one leading `www.` and the slash at the end of the path are ignored.
    Two such URLs may be two pages; a redirect from one to the other tells that they are one.
    """
    address, mark, query = page_key(url).partition("?")
    rest = address.partition("://")[2].removeprefix("www.").removesuffix("/")
    return f"{rest}{mark}{query}"


def _known_parameters(query: str) -> str:
    """Return the parameters of a query that may tell one page from another, by their names."""
    if ";" in query or "?" in query:
        shorter = _PIECE.sub(_unless_session, query)
        query = query if shorter == query else shorter.rstrip("?&;")
    if "&" not in query:
        return "" if _is_ignored(query) else query
    kept = [parameter for parameter in query.split("&") if not _is_ignored(parameter)]
    return "&".join(sorted(kept, key=_name))


def _name(parameter: str) -> str:
    return parameter.partition("=")[0]


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

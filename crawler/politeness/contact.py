"""How the bot names itself: whoever looks into a server's log must find whom to ask."""

import re

from crawler.errors import SettingError

_EMAIL = r"[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+"
_URL = r"https?://[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+(?::\d+)?(?:/[^\s()<>;,]*)?"
_CONTACT = re.compile(f"(?:{_EMAIL}|{_URL})", re.ASCII)
_TOKENS = re.compile(r"compatible;\s*([A-Za-z_-]+)"), re.compile(r"([A-Za-z_-]+)")


def is_contact(text: str) -> bool:
    """Tell whether a text is an e-mail address or an http(s) URL."""
    return _CONTACT.fullmatch(text) is not None


def user_agent(own: str, given: str, contact: str | None) -> str | None:
    """Return the name to send, None where nobody could be asked about the crawl.

    `own` is the bot's name without a contact, `given` the USER_AGENT of the settings, which is
    sent as it is if it is another. Raises `SettingError` for a contact that is none.
    """
    if contact and not is_contact(contact):
        raise SettingError(
            f"LANGFOCUS_CONTACT={contact}: an e-mail address or an http(s) URL is needed"
        )
    if given == own:
        return f"{own} (+{contact})" if contact else None
    return given if _CONTACT.search(given) else None


def product_token(name: str) -> str:
    """Return the part of a User-Agent that robots.txt may call (RFC 9309, 2.2.1).

    The rest must not count: a contact's domain may be called by a rule for somebody else.
    """
    found = next(filter(None, (pattern.search(name) for pattern in _TOKENS)), None)
    return found[1] if found else name

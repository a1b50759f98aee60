"""The bot's name and contact, for the owners of servers."""

import re
from dataclasses import dataclass

from langfocus.crawler.errors import SettingError

_EMAIL = r"[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+"
_URL = r"https?://[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+(?::\d+)?(?:/[^\s()<>;,]*)?"
_CONTACT = re.compile(f"(?:{_EMAIL}|{_URL})", re.ASCII)
_TOKENS = re.compile(r"compatible;\s*([A-Za-z0-9_-]+)"), re.compile(r"([A-Za-z0-9_-]+)")


@dataclass(frozen=True, slots=True)
class BotName:
    """The names of the bot.

    `user_agent` is sent to servers. The rules of robots.txt for `robots_name` are obeyed. `advice`
    is one line about a missing contact, "" if servers see one.
    """

    user_agent: str = "langfocus"
    robots_name: str = "langfocus"
    advice: str = ""


def bot_name(
    own: str, given: str, contact: str | None, obeyed: str | None, *, has_servers: bool
) -> BotName:
    """Return the names of the bot.

    `own` is the bot's name without a contact. `given` is the setting USER_AGENT, sent unchanged
    unless equal to `own`. `obeyed` is the name for robots.txt, if set. Raises `SettingError` for a
    contact that is neither an e-mail address nor an http(s) URL.
    """
    if contact and not _CONTACT.fullmatch(contact):
        raise SettingError(
            f"LANGFOCUS_CONTACT={contact}: an e-mail address or an http(s) URL is needed"
        )
    sent, advice = given, ""
    if given == own and contact:
        sent = f"{own} (+{contact})"
    elif has_servers and given == own:
        advice = (
            f"servers see no contact, only {own}: give an e-mail address or an http(s) URL whom "
            "they can ask (-s LANGFOCUS_CONTACT=you@example.org)"
        )
    elif has_servers and not _CONTACT.search(given):
        advice = (
            f"USER_AGENT={given} has no contact: put an e-mail address or an http(s) URL into it, "
            "so that servers see whom to ask"
        )
    return BotName(sent, obeyed or _product_token(sent), advice)


def _product_token(name: str) -> str:
    """Return the product token of a User-Agent, for robots.txt (RFC 9309, 2.2.1).

    Unlike in the RFC, digits are allowed, as in many bot names. The rest is ignored: a rule for
    another bot may contain a contact's domain.
    """
    found = next(filter(None, (pattern.search(name) for pattern in _TOKENS)), None)
    return found[1] if found else name

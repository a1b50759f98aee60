"""How the bot names itself, so that the owner of a server can find out who runs it."""

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

    `own` is its name without a contact. `given` is the USER_AGENT of the settings; if it is not
    `own`, it is sent unchanged. `obeyed` is the name for robots.txt, if one was given. Raises
    `SettingError` for a contact that is not an e-mail address or an http(s) URL.
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
    """Return the part of a User-Agent that robots.txt may name (RFC 9309, 2.2.1).

    Unlike there it may have digits, as the names of many bots do.
    The rest does not count: a rule for another bot may name the domain of a contact.
    """
    found = next(filter(None, (pattern.search(name) for pattern in _TOKENS)), None)
    return found[1] if found else name

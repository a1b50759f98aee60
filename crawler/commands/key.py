"""`langfocus key`: the key of a bot, and the directory by which servers verify its signatures."""

import argparse
import time
from pathlib import Path

from langfocus.crawler.commands.base import Parser

DESCRIPTION = (
    "Makes the Ed25519 key with which a crawl signs its requests (LANGFOCUS_KEY), if the file does "
    "not exist, and prints the directory of public keys that the owner of the crawl publishes."
)

_MANUAL = """\
The key file is secret. The directory is public: its content and header fields are served at
ORIGIN/.well-known/http-message-signatures-directory. With several key files the directory has all
their keys: publish a new key beside the old one, let crawls go on with the new one, and leave out
the old one when none uses it.

examples:
  langfocus key bot.pem --agent https://bot.example.org
  langfocus key bot.pem --agent https://bot.example.org --json directory.json
  langfocus key new.pem bot.pem --agent https://bot.example.org
"""
_VALID_DAYS = 366


def arguments(parser: Parser) -> None:
    """Add the arguments of the command."""
    parser.epilog = _MANUAL
    parser.add_paths("keys", "KEY.pem", "key files; the first one is made if it does not exist")
    parser.add_argument(
        "--agent", metavar="ORIGIN", required=True, help="https URL of the site with the directory"
    )
    parser.add_file("--json", "write the directory to FILE instead of printing it")


def run(opts: argparse.Namespace) -> None:
    """Make a key if there is none, and print the directory and its header fields."""
    from langfocus.crawler.politeness import identity
    from langfocus.crawler.report.table import Printer

    agent = identity.agent_of("--agent", opts.agent)
    printer = Printer()
    first: Path = opts.keys[0]
    keys = [identity.read_key(path) for path in opts.keys if path != first or path.exists()]
    if not first.exists():
        identity.write_key(first)
        keys.insert(0, identity.read_key(first))
        printer.line(f"new key: {first}")
    text = identity.directory(keys)
    if opts.json is None:
        for line in text.splitlines():
            printer.line(line)
    else:
        opts.json.write_text(text, encoding="utf-8")
    printer.line(f"Serve it at {agent}{identity.DIRECTORY_PATH}")
    printer.line(f"with these header fields, which are valid for {_VALID_DAYS} days:")
    now, valid_s = int(time.time()), _VALID_DAYS * 24 * 3600
    for name, value in identity.directory_fields(keys, agent, now, valid_s).items():
        printer.line(f"{name}: {value}")

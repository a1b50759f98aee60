"""Log messages hold texts of servers, which a terminal must not read as commands."""

import io
import logging
from collections.abc import Iterator

import pytest

from langfocus.crawler.errors import SettingError
from langfocus.crawler.spiders.printable_log import make_log_printable

ESCAPE = "\x1b]0;owned\x07\x9b2J\u202e"


@pytest.fixture
def log() -> Iterator[tuple[logging.Logger, io.StringIO]]:
    """A logger of its own, and the text that its handler writes."""
    before = logging.getLogRecordFactory()
    logger, stream = logging.Logger("web"), io.StringIO()
    logger.addHandler(logging.StreamHandler(stream))
    make_log_printable()
    yield logger, stream
    logging.setLogRecordFactory(before)


def test_control_characters_of_a_message_are_replaced(
    log: tuple[logging.Logger, io.StringIO],
) -> None:
    logger, stream = log
    logger.warning("from %s: %r", f"http://a.de/{ESCAPE}", ESCAPE)
    logger.warning(f"ünï {ESCAPE} 100 %")
    first, second = stream.getvalue().splitlines()
    assert first.startswith("from http://a.de/?]0;owned??2J?: ")
    assert second == "ünï ?]0;owned??2J? 100 %"


def test_a_traceback_keeps_its_lines_and_loses_control_characters(
    log: tuple[logging.Logger, io.StringIO],
) -> None:
    logger, stream = log
    try:
        raise ValueError(f"status {ESCAPE}\nlangfocus: forged")
    except ValueError:
        logger.exception("failed")
    lines = stream.getvalue().splitlines()
    assert lines[:2] == ["failed", "Traceback (most recent call last):"]
    assert lines[-2:] == [
        "    ValueError: status ?]0;owned??2J?",
        "    langfocus: forged",
    ]
    assert all(line.isprintable() for line in lines)


def test_an_error_of_the_project_is_one_line(log: tuple[logging.Logger, io.StringIO]) -> None:
    logger, stream = log
    try:
        raise SettingError("LANGFOCUS_LINKS=maybe: True or False is needed")
    except SettingError:
        logger.exception("Task exception was never retrieved\nfuture: %s", "<Task>")
    assert stream.getvalue() == "langfocus: LANGFOCUS_LINKS=maybe: True or False is needed\n"


def test_record_classes_of_an_application_stay() -> None:
    class Own(logging.LogRecord):
        pass

    before = logging.getLogRecordFactory()
    try:
        logging.setLogRecordFactory(Own)
        make_log_printable()
        assert logging.getLogRecordFactory() is Own
    finally:
        logging.setLogRecordFactory(before)

"""Logs as JSON: each line of standard error is an object, whoever wrote it."""

import io
import json
import logging
import sys
from pathlib import Path
from typing import Any

import pytest

from benchmarks.servers import processes
from langfocus.crawler.options.json_log import JsonFormatter, JsonStream, message_of, of_worker
from tests.support.commandline import call
from tests.support.crawls import environment


def objects(text: str) -> list[dict[str, Any]]:
    assert text.isascii()
    assert text.replace("\n", "").isprintable()
    found = [json.loads(line, parse_constant=pytest.fail) for line in text.splitlines()]
    assert all([*one][:4] == ["time", "level", "logger", "message"] for one in found)
    return found


def logged(message: str, *args: Any, error: bool = False, **extra: Any) -> dict[str, Any]:
    try:
        raise ValueError("a\nb\x1b[31m\udcff")
    except ValueError:
        info = sys.exc_info() if error else None
    record = logging.LogRecord("some.logger", logging.ERROR, "f.py", 1, message, args, info)
    vars(record).update(extra, created=1_800_000_000.25)
    (found,) = objects(JsonFormatter().format(record) + "\n")
    return found


def test_a_record_is_an_object_with_its_fields() -> None:
    assert logged("%d of %s", 3, 'a "b"\n\x1b\udcff') == {
        "time": "2027-01-15T08:00:00.250Z",
        "level": "ERROR",
        "logger": "some.logger",
        "message": '3 of a "b"\n\x1b?',
    }
    found = logged("%(request)s", {"request": Path("x"), "tries": 2}, spider=None, ok=True)
    more = {"request": "x", "tries": 2, "spider": None, "ok": True}
    assert found == {**found, **more}
    # A message cannot change the fields of its line.
    assert logged("%(level)s", {"level": "x", "time": "y", "message": "z"})["level"] == "ERROR"
    assert logged("%(x)s", {"x": float("nan")})["x"] == "nan"


def test_a_traceback_is_a_field() -> None:
    found = logged("failed", error=True)
    assert found["message"] == "failed"
    assert found["exception"].startswith("Traceback (most recent call last):\n")
    assert found["exception"].endswith("ValueError: a\nb\x1b[31m?")


def test_lines_of_a_log_stay_and_others_are_wrapped() -> None:
    stream = io.StringIO()
    log = JsonStream(stream, "\x1e")
    for part in ("no", "te: x\n\n", b"\xff {", '"time": 1}\n', "langfocus: no disk\nrest"):
        log.write(part)
    found = objects(stream.getvalue())
    assert [(one["level"], one["message"]) for one in found] == [
        *(("INFO", "note: x"), ("INFO", '\ufffd {"time": 1}')),
        ("ERROR", "langfocus: no disk"),
    ]
    line = stream.getvalue().splitlines()[0]
    again = io.StringIO()
    JsonStream(again, "\x1e").write(f"{line}\n\x1esnapshot\n")
    assert again.getvalue() == f"{line}\n\x1esnapshot\n"
    assert objects(of_worker("w1", line))[0]["worker"] == "w1"
    assert message_of('{"time": broken') is None
    assert of_worker("w1", "text") == "w1: text"


def test_an_exception_that_ends_the_process_is_one_object() -> None:
    stream = io.StringIO()
    error = KeyError("x")
    JsonStream(stream).fail(KeyError, error, None)
    (found,) = objects(stream.getvalue())
    assert (found["level"], found["exception"]) == ("CRITICAL", "KeyError: 'x'\n")


def test_an_unknown_format_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("LANGFOCUS_LOG", "xml")
    assert call("report", "none") == 2
    assert capsys.readouterr().err == "langfocus: LANGFOCUS_LOG=xml: text or json is needed\n"
    monkeypatch.setenv("LANGFOCUS_LOG", "json")
    assert call("report", "none") == 1
    (found,) = objects(capsys.readouterr().err)
    assert found["level"] == "ERROR"


def test_a_crawl_writes_objects_alone(tmp_path: Path) -> None:
    line = ["langfocus", "crawl", "-a", "lang=de", "-a", "web=sample", "-a", "pages=2"]
    line += ["-s", f"JOBDIR={tmp_path / 'run'}", "-s", f"LOG_FILE={tmp_path / 'log'}", "-L", "INFO"]
    done = processes.run(*line, environment={**environment(None), "LANGFOCUS_LOG": "json"})
    assert done.returncode == 0, done.stderr
    loggers = {one["logger"] for one in objects((tmp_path / "log").read_text())}
    assert {"scrapy.utils.log", "langfocus.crawler.spiders.reporter"} <= loggers
    assert "2 pages" in objects(done.stderr)[-1]["message"]

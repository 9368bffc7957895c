"""Lines of the log, and who may write what into them."""

import ast
import json
import logging
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from searx_mcp.cli.logs import LineFormatter, hide
from searx_mcp.settings.sources import load


def line(message: str, *values: object, name: str = "searx_mcp.a", debug: bool = False) -> str:
    record = logging.LogRecord(name, logging.INFO, "", 0, message, values, None)
    return LineFormatter(shows_messages=debug).format(record).partition("Z ")[2]


@pytest.mark.parametrize(
    ("values", "shown"),
    [
        (("plain", 3), "INFO a.b x=plain y=3"),
        (("two words", 3), 'INFO a.b x="two words" y=3'),
        (("a y=4", 3), 'INFO a.b x="a y=4" y=3'),
        (("a\nERROR a.b", 3), r'INFO a.b x="a\nERROR a.b" y=3'),
        (("\x1b[31m\u202e", 3), r"INFO a.b x=\x1b[31m\u202e y=3"),
        ((None, 3), "INFO a.b x=- y=3"),
        (("a" * 9_000, 3), f"INFO a.b x={'a' * 2_000}… y=3"),
    ],
)
def test_a_value_cannot_pass_for_another_field_or_line(values, shown):
    assert line("a.b x=%s y=%d", *values) == shown


@pytest.mark.parametrize(
    "text",
    [
        "http://alice:hunter2@a.example/",
        "Authorization: Bearer hunter2",
        '{"api_key": "hunter2"}',
        "https://a.example/?token=hunter2&x=1",
        "password=hunter2",
        "socks5://alice:p@hunter2@a.example:1080",
        "authorization with Bas\u0131c hunter2",
        "s\u0130gnature=hunter2",
    ],
)
def test_secrets_are_written_at_no_level(text):
    assert "hunter2" not in line("a.b x=%s", text, debug=True)
    assert "hunter2" not in line("said %s", text, name="library", debug=True)


TOKEN = 'secret"of\\16+chars'


@pytest.fixture
def hiding(tmp_path) -> Iterator[LineFormatter]:
    """A formatter that has been told of settings with every kind of secret."""
    config = tmp_path / "settings.toml"
    config.write_text(f"""
        [http]
        token = {json.dumps(TOKEN)}
        [network]
        proxy = "http://alice:p%40rtridge@a.example:3128"
        [redis]
        url = "redis://:woodlark@a.example"
        [fetch]
        github_token = "goldfinch"
        [fetch.headers."https://a.example"]
        Cookie = "nightjar"
        """)
    environ = {"SEARX_MCP_CONFIG": str(config), "SEARXNG_URL": "http://bob:kingfisher@a.example"}
    handler = logging.NullHandler()
    handler.setFormatter(formatter := LineFormatter(shows_messages=True))
    logging.getLogger().addHandler(handler)
    hide(load(environ=environ).settings)
    yield formatter
    logging.getLogger().removeHandler(handler)


@pytest.mark.parametrize(
    "secret",
    [TOKEN, "p@rtridge", "p%40rtridge", "woodlark", "goldfinch", "nightjar", "kingfisher"],
)
def test_a_secret_of_the_settings_is_written_nowhere(hiding, secret):
    said = (secret, f"x{secret}y", json.dumps(secret), "-" * 1_995 + secret)
    for value in said:
        ours = logging.LogRecord("searx_mcp.a", logging.INFO, "", 0, "a.b x=%s", (value,), None)
        theirs = logging.LogRecord("aiohttp", logging.INFO, "", 0, value, None, None)
        for record in (ours, theirs):
            told = hiding.format(record)
            assert "…" in told
            assert secret[:5] not in told
            assert secret[-5:] not in told


@pytest.mark.parametrize("debug", [False, True])
def test_what_an_exception_says_is_shown_at_debug_alone(debug):
    with pytest.raises(ValueError, match="bees") as caught:
        int("bees\nERROR a.b")
    told = (caught.type, caught.value, caught.tb)
    record = logging.LogRecord("searx_mcp.a", logging.ERROR, "", 0, "a.b", (), told)
    first, *trace = LineFormatter(shows_messages=debug).format(record).splitlines()
    assert first.endswith("ERROR a.b")
    assert trace
    assert all(text.startswith("    ") for text in trace)
    assert ("bees" in "".join(trace)) is debug
    assert "ValueError" in "".join(trace)


def test_what_a_library_says_is_shown_at_debug_alone():
    shown = "INFO library.message logger=mcp.x at=runner.py:3"
    record = logging.LogRecord("mcp.x", logging.INFO, "a/runner.py", 3, "one %s", ("two",), None)
    for debug, more in ((False, ""), (True, ' text="one two"')):
        found = LineFormatter(shows_messages=debug).format(record).partition("Z ")[2]
        assert found == shown + more


UNREAD = """
import logging, os, threading
from searx_mcp.cli.logs import configure

reading, writing = os.pipe()
told = os.dup(1)
os.dup2(writing, 2)
os.set_blocking(writing, False)
try:
    while True:
        os.write(writing, b"\\n" * 4_096)
except BlockingIOError:
    os.set_blocking(writing, True)
configure("INFO")
log = logging.getLogger("searx_mcp.a")

def until_taken():
    while not logging.getLogger().handlers[0]._queue.empty():
        threading.Event().wait(0.001)

log.info("a.first")
until_taken()
for number in range(3_000):
    log.info("a.line number=%d", number)

def read():
    end = b""
    while not end.endswith(b"had no room\\n"):
        part = os.read(reading, 1 << 16)
        os.write(told, part)
        end = (end + part)[-20:]

reader = threading.Thread(target=read, daemon=True)
reader.start()
until_taken()
log.info("a.last")
reader.join()
"""
"""Logs into a pipe that is full, and reads it only then: the thread holds the first line, its queue the next ones."""


@pytest.mark.slow
def test_a_log_that_nobody_reads_holds_up_nothing_and_says_what_is_missing():
    command = [sys.executable, "-c", UNREAD]
    ran = subprocess.run(command, capture_output=True, timeout=60, check=True, text=True)
    first, *lines, last, missing = ran.stdout.strip("\n").split("\n")
    assert first.endswith("Z INFO a.first")
    assert [line.partition("number=")[2] for line in lines] == [*map(str, range(1_000))]
    assert last.endswith("Z INFO a.last")
    assert missing == "    2000 lines before this one had no room"


LEVELS = """
import logging, sys
from searx_mcp.cli.logs import configure

configure(sys.argv[1])
for name in ("searx_mcp.a", "another.package"):
    for level in (logging.DEBUG, logging.INFO, logging.WARNING, logging.ERROR):
        logging.getLogger(name).log(level, "a.line")
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("level", "ours", "theirs"),
    [
        ("DEBUG", ["DEBUG", "INFO", "WARNING", "ERROR"], ["WARNING", "ERROR"]),
        ("INFO", ["INFO", "WARNING", "ERROR"], ["WARNING", "ERROR"]),
        ("WARNING", ["WARNING", "ERROR"], ["WARNING", "ERROR"]),
        ("ERROR", ["ERROR"], ["ERROR"]),
    ],
)
def test_a_level_is_for_our_own_lines_and_libraries_are_heard_from_warnings_on(level, ours, theirs):
    command = [sys.executable, "-c", LEVELS, level]
    ran = subprocess.run(command, capture_output=True, timeout=60, check=True, text=True)
    written = [line.split(" ")[1] for line in ran.stderr.splitlines()]
    assert written == [*ours, *theirs]


@pytest.mark.slow
@pytest.mark.parametrize(("command", "is_heard"), [("stdio", True), ("corpus status", False)])
def test_without_a_level_servers_tell_what_happens_and_commands_are_silent(
    tmp_path, command, is_heard
):
    config = tmp_path / "searx-mcp.toml"
    config.touch()
    ran = subprocess.run(
        [sys.executable, "-m", "searx_mcp", *command.split()],
        capture_output=True,
        stdin=subprocess.DEVNULL,
        timeout=60,
        check=True,
        text=True,
        env={**os.environ, "SEARX_MCP_CONFIG": str(config)},
    )
    assert (" INFO server.start " in ran.stderr) is is_heard
    assert " DEBUG " not in ran.stderr


@pytest.mark.slow
@pytest.mark.parametrize("command", ["instances add http://10.0.0.1/", "doctor"])
def test_what_a_command_says_of_its_store_is_not_logged_too(tmp_path, command):
    (tmp_path / "state-v1.db").mkdir()
    ran = subprocess.run(
        [sys.executable, "-m", "searx_mcp", *command.split()],
        capture_output=True,
        timeout=60,
        check=False,
        text=True,
        env={
            **os.environ,
            "SEARX_MCP_INSTANCES__PUBLIC": "off",
            "SEARX_MCP_STORAGE__FOLDER": str(tmp_path),
        },
    )
    assert (ran.stdout + ran.stderr).count("Move it away") == 1


ROOT = Path(__file__).parents[2]
METHODS = {"debug", "info", "warning", "error", "exception", "log"}
LOGGERS = {"_log", "logger"}
LOGGER = re.compile(r"\b(getLogger|EventLog)\(\"")


def logged() -> Iterator[tuple[str, str]]:
    """Every message of the package, and the method that writes it."""
    for source in (ROOT / "searx_mcp").rglob("*.py"):
        code = source.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(code)) if LOGGER.search(code) else ():
            match node:
                case ast.Call(ast.Attribute(ast.Name(name), method), arguments) if (
                    name in LOGGERS and method in METHODS
                ):
                    message = arguments[1 if method == "log" else 0]
                    assert isinstance(message, ast.Constant), f"{source}:{node.lineno}"
                    yield str(message.value), method


def test_the_documentation_lists_every_event_above_debug_with_its_level_and_its_fields():
    page = (ROOT / "docs" / "reference" / "log.md").read_text(encoding="utf-8")
    told = {}
    for level, name, fields in re.findall(r"^\| ([A-Z]+) \| `(\S+)([^`]*)` \|", page, re.MULTILINE):
        assert name not in told
        told[name] = (
            level,
            re.findall(r" ([a-z_]+)=(?=[^ ])", re.sub(r'"(\\.|[^"])*"', "x", fields)),
        )
    del told["library.message"]
    written: dict[str, set[str]] = {}
    for message, method in logged():
        assert re.fullmatch(r"[a-z_]+\.[a-z_]+( [a-z_]+=%[sdg])*", message)
        if method == "debug":
            continue
        name, *fields = message.split()
        level, shown = told[name]
        assert [field.partition("=")[0] for field in fields] == shown, name
        written.setdefault(name, set()).add("error" if method == "exception" else method)
    assert written.keys() == told.keys()
    for name, methods in written.items():
        assert methods in ({told[name][0].lower()}, {"log"}), name

"""Lines of the log, and who may write what into them."""

import logging
import re
from pathlib import Path

import pytest
from pydantic import BaseModel, SecretStr

from searx_mcp.cli.logs import LineFormatter, _secrets_of


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
    ],
)
def test_secrets_are_written_at_no_level(text):
    assert "hunter2" not in line("a.b x=%s", text, debug=True)
    assert "hunter2" not in line("said %s", text, name="library", debug=True)


def test_secrets_of_settings_are_found_wherever_they_stand():
    class Table(BaseModel):
        key: SecretStr = SecretStr("one")
        more: dict[str, list[SecretStr]] = {"a": [SecretStr("two")]}

    assert set(_secrets_of(Table())) == {"one", "two"}
    formatter = LineFormatter(shows_messages=True)
    formatter.secrets = re.compile("two")
    record = logging.LogRecord("searx_mcp.a", logging.INFO, "", 0, "a.b x=%s", ("ontwotow",), None)
    assert formatter.format(record).endswith("a.b x=on…tow")


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


EVENT = re.compile(
    r"(?:debug|info|warning|error|exception)\(\s*\"(server\.[a-z_]+)|\"(server\.slow) "
)


def test_the_documentation_names_every_event_of_the_server():
    root = Path(__file__).parents[2]
    sources = (root / "searx_mcp" / "server").glob("*.py")
    found = {
        name
        for source in sources
        for names in EVENT.findall(source.read_text(encoding="utf-8"))
        for name in names
        if name
    }
    page = (root / "docs" / "logging.md").read_text(encoding="utf-8")
    assert found == set(re.findall(r"^\| `([a-z_.]+)` \|", page, re.MULTILINE))

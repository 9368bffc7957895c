"""The table of ways to hide text: what is caught, what is shown all the same, and what must stay."""

import tomllib
from pathlib import Path
from typing import Any

import pytest

from searx_mcp.content.page import read_page
from searx_mcp.content.writing.style import Style

TABLE: dict[str, dict[str, Any]] = tomllib.loads(
    Path(__file__).with_name("tricks.toml").read_text("utf-8")
)
KEPT = TABLE.pop("kept")
REVEALED = TABLE.pop("revealed")
CAUGHT = {f"{kind}: {name}": html for kind, rows in TABLE.items() for name, html in rows.items()}

LARGE = {
    "PAD": "x-y:z;" * 900,
    "RULES": "".join(f".r{number}{{display:none}}" for number in range(3_000)),
    "SHEET": ".s .t > .u:not(.v){color:#123;margin:0 auto}" * 7_000,
}
TAGS = 0xE0000
TEXT = "<p>" + "A sentence that every reader of the page sees. " * 10 + "</p>"


def text_of(html: str) -> str:
    for name, text in LARGE.items():
        html = html.replace(name, text)
    page = f"<!doctype html><title>x</title><body>{TEXT}{html}{TEXT}"
    read = read_page(page, url="https://ex.org/", style=Style(), max_chars=10_000_000)
    return read.written.markdown


def test_the_table_is_large():
    assert len(CAUGHT) + len(REVEALED) >= 156
    assert len(CAUGHT) >= 140
    assert len(KEPT) >= 30


@pytest.mark.parametrize("html", [pytest.param(html, id=name) for name, html in CAUGHT.items()])
def test_a_trick_is_caught_and_nothing_beside_it(html: str):
    text = text_of(html)
    letters = "".join(chr(ord(letter) - TAGS) if ord(letter) > TAGS else letter for letter in text)
    assert "GONE" not in letters
    assert text.count("kept") == html.count("kept")


@pytest.mark.parametrize("row", [pytest.param(row, id=name) for name, row in REVEALED.items()])
def test_what_a_page_alone_does_not_tell_is_shown(row: list[str]):
    html, reason = row
    text = text_of(html)
    assert "GONE" in text, reason
    assert text.count("kept") == html.count("kept")


@pytest.mark.parametrize("html", [pytest.param(html, id=name) for name, html in KEPT.items()])
def test_what_everybody_sees_stays(html: str):
    assert text_of(html).count("kept") == html.count("kept")

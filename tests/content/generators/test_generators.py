"""Pages as generators of documentation write them: what has to be in their Markdown, and what must not.

`generators.toml` says of each page in `pages/` what is expected; `known` names what is not met yet, so that it
can only become less. `python -m benchmarks.losses --quick` counts the rest.
"""

import tomllib
from pathlib import Path
from typing import Any

import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token

from searx_mcp.content.config import ContentConfig
from searx_mcp.content.convert import convert

FOLDER = Path(__file__).resolve().parent
PAGES: dict[str, dict[str, Any]] = tomllib.loads((FOLDER / "generators.toml").read_text("utf-8"))
PARSER = MarkdownIt("commonmark").enable("table")


class Read:
    """The parts of a text in Markdown, as plain words."""

    def __init__(self, markdown: str) -> None:
        self.headings: list[str] = []
        self.fences: list[str] = []
        cells: list[list[list[str]]] = []
        self.items: list[str] = []
        self.lines: list[str] = []
        before = ""
        for token in PARSER.parse(markdown):
            text = _plain(token)
            if token.type == "fence":
                self.fences.append(f"{token.info}: {token.content.splitlines()[0]}")
            elif token.type == "table_open":
                cells.append([])
            elif token.type == "tr_open":
                cells[-1].append([])
            elif token.type == "inline" and before in {"th_open", "td_open"}:
                cells[-1][-1].append(text)
            elif token.type == "inline" and before.startswith("h"):
                self.headings.append(f"{'#' * int(before[1])} {text}")
            elif token.type == "inline":
                (self.items if before == "item" else self.lines).append(text)
            if token.type == "paragraph_open":
                before = "item" if before == "list_item_open" else ""
            else:
                before = f"h{token.tag[1]}" if token.type == "heading_open" else token.type
        self.tables = [[" | ".join(row).strip() for row in table] for table in cells]


def _plain(token: Token) -> str:
    return "".join(
        " " if part.type == "softbreak" else part.content for part in token.children or ()
    )


def failures(markdown: str, check: dict[str, Any]) -> set[str]:
    """The expectations that are not met."""
    read = Read(markdown)
    begun = next(iter([*PARSER.parse(markdown)]), None)
    first = check.get("first") or check["headings"][0].lstrip("# ")
    texts = [_plain(token) for token in PARSER.parse(markdown) if token.type == "inline"]
    found = {
        "first": begun is not None and texts[:1] == [first],
        "headings": read.headings == check["headings"],
        "fences": read.fences == check.get("fences", []),
        "tables": read.tables == check.get("tables", []),
        "items": all(
            any(one.startswith(item) for one in read.items) for item in check.get("items", ())
        ),
        "terms": all(
            any(one.startswith(term) for one in (*read.lines, *read.items))
            for term in check.get("terms", ())
        ),
        "absent": not any(words in markdown for words in check["absent"]),
    }
    return {name for name, holds in found.items() if not holds}


@pytest.mark.parametrize("name", sorted(PAGES))
def test_a_page_of_a_generator_is_whole_and_without_its_menus(name: str):
    body = (FOLDER / "pages" / f"{name}.html").read_bytes()
    document = convert(
        body,
        media_type="text/html",
        charset=None,
        url=f"https://docs.example/{name}.html",
        config=ContentConfig(),
    )
    assert failures(document.markdown, PAGES[name]) == set(PAGES[name].get("known", ()))


def test_every_page_of_a_generator_has_expectations():
    assert {file.stem for file in (FOLDER / "pages").iterdir()} == set(PAGES)

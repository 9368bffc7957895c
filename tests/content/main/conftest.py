"""Small pages for tests of the main content, and their text."""

from collections.abc import Callable
from dataclasses import dataclass

import pytest
from selectolax.lexbor import LexborHTMLParser

from searx_mcp.content.main.find import find_main
from searx_mcp.content.main.kinds import Hints
from searx_mcp.content.tree import Removals
from searx_mcp.models.page import PageKind


@dataclass(frozen=True)
class Found:
    """The main content of a small page; the tree is here since its nodes live as long as it does."""

    tree: LexborHTMLParser
    kind: PageKind | None
    roots: tuple[str, ...]
    text: str
    html: str


Find = Callable[..., Found]


@pytest.fixture
def find() -> Find:
    """Finds the main content of what is inside `<body>`."""

    def _find(
        body: str, *, url: str = "https://ex.org/", types: str = "", title: str = ""
    ) -> Found:
        tree = LexborHTMLParser(f"<html><body>{body}</body></html>")
        main = find_main(tree, Hints(url, title=title, types=frozenset(types.split())), Removals())
        words = " ".join(root.text(separator=" ") for root in main.roots)
        return Found(
            tree,
            main.kind,
            tuple(root.attributes.get("id") or root.tag or "" for root in main.roots),
            " ".join(words.split()),
            "".join(root.html or "" for root in main.roots),
        )

    return _find

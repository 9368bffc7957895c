"""A fragment of a page in its standard form."""

from collections.abc import Callable

import pytest
from selectolax.lexbor import LexborHTMLParser

from searx_mcp.content.html.hidden_elements import drop_hidden, drop_unseen, style_sheet
from searx_mcp.content.normalize.rewrite import normalize_sources, normalize_text
from searx_mcp.content.tree import Removals


@pytest.fixture(scope="session")
def standard() -> Callable[[str], str]:
    """Return a function that rewrites a fragment and returns what is left of it, as HTML."""

    def rewrite(html: str) -> str:
        tree = LexborHTMLParser(f"<!doctype html><body>{html}</body>")
        sheet = style_sheet(tree)
        normalize_sources(tree, Removals())
        drop_unseen(tree, Removals())
        drop_hidden(tree, sheet, Removals())
        normalize_text(tree, Removals())
        assert tree.body is not None
        return (tree.body.inner_html or "").strip()

    return rewrite

"""Elements to Markdown and back."""

from collections.abc import Callable

import pytest
from markdown_it import MarkdownIt
from selectolax.lexbor import LexborHTMLParser

from searx_mcp.content.writing.write import WrittenMarkdown, write
from searx_mcp.models.style import Style

Writer = Callable[..., WrittenMarkdown]
_BASE = "https://ex.org/a/b.html"
_READER = MarkdownIt("commonmark").enable(["table", "strikethrough"])


@pytest.fixture
def written() -> Writer:
    """Write the body of a page."""

    def write_page(html: str, **style: object) -> WrittenMarkdown:
        body = LexborHTMLParser(html).body
        assert body is not None
        return write([body], base=_BASE, style=Style(**style))  # type: ignore[arg-type] # names are the test's

    return write_page


@pytest.fixture
def reread(written: Writer) -> Callable[..., str]:
    """Parse Markdown and write it again: the same text, if the parser has understood it."""

    def read(markdown: str, **style: object) -> str:
        return written(_READER.render(markdown), **style).markdown

    return read

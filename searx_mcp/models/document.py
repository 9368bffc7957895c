"""A page as it was captured."""

from collections.abc import Mapping

from searx_mcp.models.base import Frozen
from searx_mcp.models.page import CodeBlock, Heading, PageImage, PageKind, PageLink


class Document(Frozen):
    """Everything that was captured of a page, whatever part of it a call shows.

    Equal documents are kept once. Nothing in it tells who asked, when, or for what.

    Attributes:
        markdown: the whole of it; the offsets of a cursor count its code points.
        truncated: whether the page was longer than what was captured.
        robots: as in `models.page.Page`; so are all others.
    """

    final_url: str
    title: str = ""
    description: str = ""
    author: str = ""
    published: str = ""
    modified: str = ""
    language: str = ""
    site: str = ""
    canonical_url: str = ""
    kind: PageKind | None = None
    is_protected: bool = False
    sources: Mapping[str, str] = {}
    content_type: str
    content_length: int
    status_code: int
    headers: Mapping[str, str] = {}
    redirect_count: int = 0
    redirect_chain: tuple[str, ...] = ()
    redirect_target: str = ""
    markdown: str
    word_count: int
    outline: tuple[Heading, ...] = ()
    images: tuple[PageImage, ...] = ()
    links: tuple[PageLink, ...] = ()
    code_blocks: tuple[CodeBlock, ...] = ()
    truncated: bool = False
    tier: str = "native"
    robots: str = ""
    hidden_chars_removed: int = 0
    notes: tuple[str, ...] = ()

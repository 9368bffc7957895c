"""A page as text, and how it passes between processes: as JSON."""

from collections.abc import Mapping
from typing import Any, Final

from searx_mcp.content.config import ContentConfig
from searx_mcp.models.base import Frozen
from searx_mcp.models.page import CodeBlock, Heading, PageImage, PageKind, PageLink, SiteIndex


class Document(Frozen):
    """A page as text, whatever it was read from; every string is clean.

    Attributes:
        title: one line; empty if the page has none.
        description: one line, the page's own; empty if it has none.
        author: names on one line, as the page gives them; may be empty.
        published: ISO 8601 where that could be read, else as the page writes it; may be empty.
        modified: likewise.
        language: BCP 47 tag the page declares, or empty.
        site: name of the site on one line, or empty.
        canonical_url: the address that the page gives as its own, or empty.
        kind: what the page is; `None` where nothing tells.
        is_protected: whether the page says that it is not free to read.
        sources: where each of these comes from, by its name here.
        markdown: the content.
        word_count: words of the Markdown; a Han character or kana is one.
        outline: the headings of the Markdown, in order, with the page's own anchors.
        images: of the main content, in order, at most 50.
        links: of the main content to other pages, in order, each address once, at most 1,000.
        indexes: of its site, as the page tells of them, best first; of an index, the further files it is in.
        code_blocks: of the Markdown, in order.
        truncated: whether the page goes on behind the end of the Markdown.
        hidden_chars_removed: characters of the text that no reader sees.
        removed: blocks of a page of HTML that are not in the Markdown, by the rule that took them out;
            `content.removals` names the rules.
        notes: sentences a caller should know.
        is_skeleton: whether the page needs its scripts to say more than this.
    """

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
    markdown: str
    word_count: int
    outline: tuple[Heading, ...] = ()
    images: tuple[PageImage, ...] = ()
    links: tuple[PageLink, ...] = ()
    indexes: tuple[SiteIndex, ...] = ()
    code_blocks: tuple[CodeBlock, ...] = ()
    truncated: bool = False
    hidden_chars_removed: int = 0
    removed: Mapping[str, int] = {}
    notes: tuple[str, ...] = ()
    is_skeleton: bool = False


_NOT_PASSED: Final = {"truncated"}
"""Only who fetched a page knows whether all of it came."""

_PASSED: Final = frozenset(Document.model_fields) - _NOT_PASSED


def options_for(
    *, media_type: str, charset: str | None, url: str, config: ContentConfig
) -> Mapping[str, object]:
    """Write the options of the jobs `page` and `text`; the arguments are those of `convert.convert`."""
    return {
        "media_type": media_type,
        "charset": charset,
        "url": url,
        "config": config.model_dump(mode="json"),
    }


def to_frame(document: Document) -> Mapping[str, Any]:
    """Write what the jobs `page` and `text` give: the fields as JSON has them."""
    return document.model_dump(mode="json", exclude=_NOT_PASSED)


def from_frame(frame: Mapping[str, Any]) -> Document:
    """Read back what `to_frame` wrote.

    Args:
        frame: of the job `page` or `text`, from wherever it came.

    Raises:
        ValueError: a field is missing, unknown, or not of its kind.
    """
    if frame.keys() != _PASSED:
        raise ValueError("not the fields of a page")
    return Document.model_validate(frame)

"""A page as text, and how it passes between processes, as JSON."""

from collections.abc import Mapping
from typing import Any, Final

from searx_mcp.content.config import ContentConfig
from searx_mcp.models.base import Frozen
from searx_mcp.models.page import CodeBlock, Heading, PageImage, PageKind, PageLink, SiteIndex

_SHORT: Final = 8_000
"""Characters of a page that is shown and packed on the event loop: up to 3 ms, most of them for a summary."""
_FEW: Final = 100
"""Links and images of one."""


class Document(Frozen):
    """A page as text, whatever its format was; every string is clean.

    Attributes:
        title: one line; empty if the page has none.
        description: one line, the page's own; empty if it has none.
        author: names on one line, as on the page; may be empty.
        published: ISO 8601 if it could be parsed, else as on the page; may be empty.
        modified: likewise.
        language: BCP 47 tag that the page declares, or empty.
        site: name of the site on one line, or empty.
        canonical_url: the canonical address that the page declares, or empty.
        kind: of the page; `None` if unknown.
        is_protected: whether the page declares that it is not free to read.
        sources: the source of each of these, by its name here.
        markdown: the content.
        word_count: words of the Markdown; a Han character or kana is one.
        outline: the headings of the Markdown, in order, with the page's own anchors.
        images: of the main content, in order, at most 50.
        links: of the main content to other pages, in order, each address once, at most 1,000.
        indexes: of its site, those that the page points to, best first; for an index, its further files.
        code_blocks: of the Markdown, in order.
        truncated: whether the page continues after the end of the Markdown.
        hidden_chars_removed: invisible characters that were removed from the text.
        removed: number of blocks of an HTML page that are not in the Markdown, by the rule that removed them;
            `content.tree` lists the rules.
        notes: sentences that a caller should know.
        is_skeleton: whether the page needs its scripts to show more than this.
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

    @property
    def is_short(self) -> bool:
        """Whether work on it is done sooner than handed to a thread, twice for each page read."""
        return len(self.markdown) <= _SHORT and len(self.links) + len(self.images) <= _FEW


_NOT_PASSED: Final = {"truncated"}
"""Only the code that fetched a page knows whether it is complete."""

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
    """Write the result of the jobs `page` and `text`: the fields as JSON values."""
    return document.model_dump(mode="json", exclude=_NOT_PASSED)


def from_frame(frame: Mapping[str, Any]) -> Document:
    """Read the output of `to_frame`.

    Args:
        frame: of the job `page` or `text`, from any source.

    Raises:
        ValueError: a field is missing, unknown, or of the wrong type.
    """
    if frame.keys() != _PASSED:
        raise ValueError("not the fields of a page")
    return Document.model_validate(frame)

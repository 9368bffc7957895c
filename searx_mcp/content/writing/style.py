"""The choices by which Markdown is written, and what comes of them."""

from dataclasses import dataclass
from enum import StrEnum

from searx_mcp.models.page import CodeBlock, Heading, Images, PageImage, PageLink


class Links(StrEnum):
    """Where the addresses of links stand: behind their words, at the end as footnotes, or nowhere."""

    INLINE = "inline"
    FOOTNOTES = "footnotes"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Style:
    """The choices by which a page is written.

    Attributes:
        images: what stands for an image.
        links: where addresses stand.
        max_heading_level: deeper headings are written as bold lines; 1 to 6.
        keep_code_blocks: whether fenced code stays.
        keep_tables: whether tables stay; else their cells stand in lines, as those of a table for layout.
        keep_image_words: whether `Images.ALT` writes the words of images at all.
        keep_captions: whether the captions of figures stay.
    """

    images: Images = Images.ALT
    links: Links = Links.INLINE
    max_heading_level: int = 6
    keep_code_blocks: bool = True
    keep_tables: bool = True
    keep_image_words: bool = True
    keep_captions: bool = True


@dataclass(frozen=True, slots=True)
class Written:
    """Elements as Markdown; every string is clean.

    Attributes:
        markdown: CommonMark with GFM tables, strikethrough and tasks, footnotes, and LaTeX between
            `$` and `$$`.
        links: to other pages, in order, each address once, at most 1,000.
        images: in order, each address once, at most 50; without those that count visitors.
        outline: the headings in order, with their offsets in `markdown` and the fragments that lead
            to them.
        code_blocks: in order.
        hidden: characters that no reader sees, taken out of the text.
    """

    markdown: str
    links: tuple[PageLink, ...] = ()
    images: tuple[PageImage, ...] = ()
    outline: tuple[Heading, ...] = ()
    code_blocks: tuple[CodeBlock, ...] = ()
    hidden: int = 0

"""The choices by which Markdown is written."""

from dataclasses import dataclass
from enum import StrEnum


class Images(StrEnum):
    """Forms of an image in Markdown: its words, a link to it, the image itself, or nothing.

    A host that renders Markdown fetches images that stand in it, without asking.
    """

    ALT = "alt"
    LINKS = "links"
    INLINE = "inline"
    NONE = "none"


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

"""Options for writing Markdown, and where a part of it may end."""

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Final


class Images(StrEnum):
    """Forms of an image in Markdown: its words, a link to it, the image itself, or nothing.

    A host that renders Markdown fetches the images in it without asking.
    """

    ALT = "alt"
    LINKS = "links"
    INLINE = "inline"
    NONE = "none"


class Links(StrEnum):
    """Position of link addresses: after their text, at the end as footnotes, or omitted."""

    INLINE = "inline"
    FOOTNOTES = "footnotes"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Style:
    """Options for writing a page.

    Attributes:
        images: how to write an image.
        links: where to write addresses.
        max_heading_level: deeper headings are written as bold lines; 1 to 6.
        keep_code_blocks: whether to keep fenced code.
        keep_tables: whether to keep tables; else their cells become lines, as in a layout table.
        keep_image_words: whether `Images.ALT` writes the text of images at all.
        keep_captions: whether to keep the captions of figures.
    """

    images: Images = Images.ALT
    links: Links = Links.INLINE
    max_heading_level: int = 6
    keep_code_blocks: bool = True
    keep_tables: bool = True
    keep_image_words: bool = True
    keep_captions: bool = True


_LEADS = re.compile(r"\s*(?:#{1,6}(?: .*)?|[-*+]|[0-9]{1,9}[.)])")
"""A line that says nothing without what follows it: a heading, or the mark of a list item."""
_MOST_LEADS: Final = 3
"""Such lines that an end leaves out; in code, they may be comments."""


def before_leads(markdown: str, start: int, end: int) -> int:
    """Return where a part of a text ends without headings and marks of list items that would be its last lines."""
    for _ in range(_MOST_LEADS):
        stop = start + len(markdown[start:end].rstrip())
        line = markdown.rfind("\n", start, stop) + 1
        if markdown[start:line].strip() and _LEADS.fullmatch(markdown, line, stop):
            end = line
    return end

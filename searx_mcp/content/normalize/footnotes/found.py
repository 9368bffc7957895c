"""A note with what refers to it, and the words by which both are known."""

import re
from dataclasses import dataclass, field
from typing import Final

from selectolax.lexbor import LexborNode

from searx_mcp.content.normalize.elements import ancestors, classes

_LABEL: Final = re.compile(
    r"[\[({^]*\s*((?:(?:note|nb|n|fn|ref|efn|lower-alpha)\.?\s?)?\d{1,4}|[a-z]{1,2}|[ivxl]{1,6}|[*†‡§¶‖#]{1,4})\s*[\])}.:]*",
    re.IGNORECASE,
)
_CLEAN = re.compile(r"[^A-Za-z0-9_-]+")
_NAME_CHARS: Final = 40
LABEL_CHARS: Final = 24
"""Characters of a text that may be a label."""

_SAYS_NOTE: Final = re.compile(
    r"foot-?note|end-?note|(?:^|[^a-z])(?:fn|ftnt?|note|notes|cite_note|cite|reflist|bib|biblio[a-z]*|noteref"
    r"|references?|ref|footref|fnref|sidenote)(?:[^a-z]|$|\d)",
    re.IGNORECASE,
)
_HEADING = re.compile(
    r"(?:foot|end)?notes?(?: (?:and|&) (?:references|citations|sources))?|references?(?: (?:and|&) notes)?|citations"
    r"|sources|works cited|bibliography|fußnoten|anmerkungen|einzelnachweise|notas|notes et références"
    r"|références|referencias|note|примечания|脚注|参考文献|注释",
    re.IGNORECASE,
)


@dataclass(slots=True)
class Note:
    """A note that something refers to.

    Attributes:
        label: what the page calls it: a number, a letter or a sign.
        parts: the siblings it consists of, in order; what stands in them is its text.
        references: the elements that refer to it, in order.
        ids: of what refers to it; a link to one leads back.
    """

    label: str
    parts: list[LexborNode]
    references: list[LexborNode]
    ids: set[str] = field(default_factory=set)


def label_of(text: str) -> str:
    """What a text names a note by, without brackets; empty if it is no label."""
    if len(text) > LABEL_CHARS:
        return ""
    match = _LABEL.fullmatch(text.strip())
    return " ".join(match[1].split()) if match else ""


def clean_name(label: str) -> str:
    """A label as a name of a note in Markdown; empty if nothing is left of it."""
    return _CLEAN.sub("-", label).strip("-")[:_NAME_CHARS]


def says_note(node: LexborNode, most: int) -> bool:
    """Whether an element or one of those around it says by its class, id or role that it is of notes."""
    for around in (node, *ancestors(node, most)):
        attributes = around.attributes
        words = [*classes(around)[:8], attributes.get("id") or "", attributes.get("role") or ""]
        words += [attributes.get("epub:type") or "", attributes.get("data-type") or ""]
        if any(word and _SAYS_NOTE.search(word) for word in words):
            return True
    return False


def is_note_heading(text: str) -> bool:
    """Whether a heading is one over notes."""
    return len(text) <= 3 * LABEL_CHARS and _HEADING.fullmatch(text.strip().rstrip(":")) is not None


def label_end(text: str, label: str) -> int:
    """Where a label with its brackets and white space ends that a text begins with; 0 if it has none."""
    inside = text.lstrip().lstrip("[({^").lstrip()
    if not inside.lower().startswith(label.lower()):
        return 0
    rest = inside[len(label) :]
    if rest[:1].isalnum() or rest[:1] == "_":
        return 0
    return len(text) - len(rest.lstrip().lstrip("])}.:").lstrip())

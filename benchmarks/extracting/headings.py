"""How many headings of a page's content are headings in the Markdown.

A heading counts if it is an `h1` to `h6` of the page with its words on a line of their own in the gold,
and if its section is in the gold too: the line below it there is what stands below it on the page, up to
the next heading, or is that heading. So a word that only looks like a heading does not count: the name of a
member in a list of names, a label of a menu. Equal headings of a page count once, and an `h1` that the title
of the page holds does not, since that is told apart from the text.

It stands if a heading of the Markdown, also one in a quote or an item, has the same letters and digits. If
not, it is lost if the line below it is in the Markdown, and gone with its section if not. Sections are what
F1 measures; the gate is about headings that are lost.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise, zip_longest
from typing import Final

from selectolax.lexbor import LexborHTMLParser

from benchmarks.extracting.plain import plain_text
from searx_mcp.content.decode import decode

_HEADINGS: Final = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_UNREAD: Final = ["script", "style", "noscript", "template"]
_HEADING = re.compile(r"^[ \t]*(?:(?:>|[-*+]|\d{1,9}[.)])[ \t]+)*(#{1,6}[ \t]+.*)$", re.MULTILINE)
_LETTERS = re.compile(r"\w+")
_BELOW: Final = 40
"""Letters and digits of the line below that are compared; the rest of it may be told in other ways."""


@dataclass(frozen=True, slots=True)
class Reach:
    """What became of the headings that count.

    Attributes:
        standing: how many are headings.
        lost: those whose section is there, as letters and digits in lower case.
        gone: those whose section is not there either.
    """

    standing: int
    lost: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()


def heading_lines(markdown: str) -> tuple[str, ...]:
    """The lines of a text that are headings, without marks."""
    return tuple(plain_text(match[1]) for match in _HEADING.finditer(markdown))


def reach(body: bytes, gold: str, text: str, headings: Iterable[str]) -> Reach:
    """Follow the headings of one page.

    Args:
        body: the page.
        gold: its content.
        text: what was found, without marks.
        headings: those of what was found; see `heading_lines`.
    """
    below: dict[str, list[str]] = defaultdict(list)
    lines = [letters for line in gold.splitlines() if (letters := _letters(line))]
    for line, following in zip_longest(lines, lines[1:], fillvalue=""):
        below[line].append(following[:_BELOW])
    found = {_letters(heading) for heading in headings}
    shown = _letters(text)
    kept: dict[str, bool] = {}
    sections, title = _sections(body)
    sections.append(("", ""))
    for (heading, section), (following, _) in pairwise(sections):
        if heading in kept or (heading and heading in title):
            continue
        firsts = [first for first in below.get(heading, ()) if first and first in section]
        firsts = firsts or [
            first for first in below.get(heading, ()) if first and following.startswith(first)
        ]
        if firsts:
            kept[heading] = any(first in shown for first in firsts)
    missing = [heading for heading in kept if heading not in found]
    return Reach(
        len(kept) - len(missing),
        tuple(heading for heading in missing if kept[heading]),
        tuple(heading for heading in missing if not kept[heading]),
    )


def share_of_kept(reached: Sequence[Reach]) -> float:
    """How many of the headings whose section is kept stand; 1 if there are none."""
    standing = sum(each.standing for each in reached)
    lost = sum(len(each.lost) for each in reached)
    return standing / (standing + lost) if standing + lost else 1.0


def share_of_all(reached: Sequence[Reach]) -> float:
    """How many of all headings that count stand; 1 if there are none."""
    standing = sum(each.standing for each in reached)
    missing = sum(len(each.lost) + len(each.gone) for each in reached)
    return standing / (standing + missing) if standing + missing else 1.0


def _sections(body: bytes) -> tuple[list[tuple[str, str]], str]:
    """The headings of a page with what follows each up to the next, and its title; as letters and digits."""
    tree = LexborHTMLParser(decode(body, charset=None)[0])
    titles = [node.text() for node in tree.css("head > title")]
    titles += [node.attributes.get("content") or "" for node in tree.css('[property="og:title"]')]
    tree.strip_tags(_UNREAD)
    sections: list[tuple[str, list[str]]] = []
    if tree.body is not None:
        for node in tree.body.traverse(include_text=True):
            if node.tag in _HEADINGS:
                sections.append((_letters(node.text()), []))
            elif node.tag == "-text" and sections:
                sections[-1][1].append(node.text_content or "")
    # The first words that follow a heading are its own.
    found = [
        (heading, _letters("".join(texts))[len(heading) :])
        for heading, texts in sections
        if heading
    ]
    return found, " ".join(map(_letters, titles))


def _letters(text: str) -> str:
    return "".join(_LETTERS.findall(text.lower()))

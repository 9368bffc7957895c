"""The blocks in brackets of the corpus tools' answers, and protection against untrusted lines that imitate them.

A model recognises a block by its name alone, so no untrusted line may begin as ours do: with the name of a block
after a bracket, or with the head of a passage. A model reads a disguised name as easily as a plain one, so each
letter is folded to the one it looks like, as for the fence.
"""

import re
import unicodedata
from collections.abc import Iterable
from typing import Final

from searx_mcp.render.fence import folded, neutralise

NAMES: Final = (
    "SOURCES",
    "EVIDENCE",
    "IMAGES",
    "EXPANSION TRACE",
    "CITATIONS",
    "STATS",
    "ERROR",
    "CORPUS STATUS",
)
_SKELETONS: Final = frozenset(name.replace(" ", "").lower() for name in NAMES)
_PREFIXES: Final = frozenset(name[:end] for name in _SKELETONS for end in range(len(name)))
_SOURCE: Final = "source"
_ALIKE: Final = str.maketrans(
    "\u0430\u03b1\u0455\u057d\u0456\u03b9\u0433\u03c5\u0446\u043c\u0440\u03c1\u0501\u0445\u03c7\u050d\u043a\u03ba",
    "aasuiiruumppdxxgkk",
)
"""Small letters of other scripts that look like letters of our block names, and that the fence does not need (UTS #39)."""
_LOOKED_AT: Final = 80
"""Characters at the start of a line within which a block name must begin and end to be recognised."""
_LINE = re.compile(r"^[^\n]*[\[\x80-\U0010ffff][^\n]*$", re.MULTILINE)
"""Lines that may contain a square bracket."""
_BREAKS: Final = dict.fromkeys(map(ord, "\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"), "\n")
"""Other characters that may be displayed as line breaks."""


def block(name: str, lines: Iterable[str]) -> str:
    """Return a block: its name in brackets, then its lines."""
    return "\n".join((f"[{name}]", *lines))


def strangers(text: str, boundary: str) -> str:
    """Return untrusted text in which no line imitates a block and nothing imitates the fence.

    Linear in the length, which does not change: in a line that would imitate one, the bracket becomes a round one.
    """
    return _LINE.sub(_disarmed, neutralise(text.translate(_BREAKS), boundary))


def _disarmed(match: re.Match[str]) -> str:
    line = match[0]
    start = len(line) - len(line.lstrip())
    place = _bracket(line[start : start + _LOOKED_AT])
    return line if place is None else f"{line[: start + place]}({line[start + place + 1 :]}"


def _bracket(head: str) -> int | None:
    """Return the index of the bracket that makes a line look like ours; `None` if there is none."""
    word, ended, bracket = "", False, None
    for place, char in enumerate(head):
        letter = folded(char).translate(_ALIKE)
        if not letter:
            if _opens(char) and (not word or word == _SOURCE):
                bracket = place
            ended = ended or (bool(word) and not char.isspace())
            if bracket is not None and ended and word in _SKELETONS:
                return bracket
            continue
        if word == _SOURCE and bracket is not None and letter.isdigit():
            return bracket
        word, ended = word + letter, False
        if word not in _PREFIXES and word not in _SKELETONS:
            return None
    return bracket if word in _SKELETONS else None


def _opens(char: str) -> bool:
    """Return whether a sign looks like a square bracket: any opening bracket does that is not round."""
    return char == "[" or (
        unicodedata.category(char) in {"Ps", "Pi"}
        and not char.isascii()
        and unicodedata.normalize("NFKD", char)[:1] != "("
    )

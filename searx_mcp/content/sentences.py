"""Where sentences end, in most scripts.

Ends are found by marks: `.`, `!`, `?` and their like before a space, in Han and kana anywhere. Thai
and Lao have no such marks: there a space ends a clause, and clauses are taken together until they
have the length of a sentence.
"""

# ruff: noqa: RUF001 - Cyrillic letters that look like Latin ones are Cyrillic here

import re
from collections.abc import Iterator
from typing import Final

_STOPS: Final = ".!?\u2026\u061f\u06d4\u0964\u0965\u0589\u1362\u1367\u1368\u17d4\u17d5\u104a\u104b"
"""Latin, Arabic, Urdu, Devanagari, Armenian, Ethiopic, Khmer, Burmese."""
_WIDE_STOPS: Final = "\u3002\uff01\uff1f\uff61"
_CLOSING: Final = "\"'\u201d\u2019\u00bb)\\]*_\\\\"
"""What closes behind a stop, as Markdown writes it: marks may be escaped."""
_WIDE_CLOSING: Final = "\u201d\u2019\u300d\u300f\uff09\u300b"
_NOTES: Final = r"(?:\[\^[\w-]{1,20}\])*"

_ENDS: Final = frozenset(_STOPS + _WIDE_STOPS)
_BEHIND: Final = " \u00a0\u202f[]" + _CLOSING + _WIDE_CLOSING
_CUT: Final = ("...", "\u2026")

# Whether a space follows is looked at afterwards: a run of marks is read once, from its start.
# 50,000 "!" in a row took 40 s otherwise.
_ASCII_END = re.compile(rf"[.!?]+[\"')\]*_\\]*{_NOTES}")
_END = re.compile(
    rf"[{_STOPS}{_WIDE_STOPS}]+[{_CLOSING}{_WIDE_CLOSING}]*(?:[ \u00a0\u202f]\u00bb)?{_NOTES}"
)
_CLAUSE_LETTER: Final = "\u0e00-\u0eff"
_CLAUSE_SIGN = re.compile(rf"[{_CLAUSE_LETTER}]")
_CLAUSE_END = re.compile(rf"{_END.pattern}|(?<=[{_CLAUSE_LETTER}])\s+(?=[{_CLAUSE_LETTER}])")

_SHORTENED: Final = """
mr mrs ms dr prof sr jr st vs etc cf al vol eq ca approx inc ltd co corp dept est gen sgt capt rev ave
blvd mt ft viz ed eds ph.d
jan feb mar apr jun jul aug sep sept oct nov dec
bzw usw vgl ggf evtl bspw str tel inkl zzgl mio mrd hr fr geb gest jh sog
sra srta dra ud uds ee.uu aprox avda lic tlf mm mme mlle env chap sig dott ecc avv
bijv enz dhr mevr np tzn tzw ul godz vb sn örn
гг вв ул им руб тыс млн млрд др пр акад проф обл
"""
_SHORTENED_BEFORE_FIGURE: Final = """
no nos nr núm fig abb pp pág pag art sec ch cap kap bl blz стр рис см №
"""
_BEFORE_DAY: Final = (
    "am vom zum bis im der die das den dem des und seit ab beim jeder jeden zur ein"
)

_ABBREVIATIONS: Final = frozenset(_SHORTENED.split())
"""What is shortened in the prose of ten languages; they end no sentence."""
_BEFORE_FIGURE: Final = frozenset(_SHORTENED_BEFORE_FIGURE.split())
"""They end a sentence like any word, but not before a figure."""
_BEFORE_ORDINAL: Final = frozenset(_BEFORE_DAY.split())
"""German writes "am 3. Mai"; other languages that do so go on in lower case."""
_LARGEST_ORDINAL_DIGITS: Final = 2

_GOES_ON_BEHIND_QUOTE: Final = frozenset("とっのはがをにでもやへ、\uff0c,")
_REACH: Final = 40
"""Characters that hold every abbreviation; keeps the scan linear."""
_CLAUSE: Final = 70
"""Characters from which on a space between Thai letters ends a sentence. Sentences of the Thai text
under `benchmarks/summaries_data` have 30 to 140."""


def sentence_ends(text: str) -> Iterator[int]:
    """Where sentences end, in order.

    Args:
        text: a line or more of prose. The end of the text itself is no end here.

    Yields:
        Offsets behind the last mark of each sentence.
    """
    pattern = _ASCII_END
    if not text.isascii():
        pattern = _CLAUSE_END if _CLAUSE_SIGN.search(text) else _END
    start, size = 0, len(text)
    for end in pattern.finditer(text):
        at = end.end()
        if at < size and _is_end(text, start, end):
            yield at
            start = at


def is_ended(text: str) -> bool:
    """Whether a piece of prose ends like a sentence; in scripts without stops all prose does.

    What is cut with an ellipsis, and what announces something with a colon, does not.
    """
    bare = text.rstrip(_BEHIND)
    if bare.endswith(_CUT):
        return False
    return bare[-1:] in _ENDS or bool(_CLAUSE_SIGN.search(bare))


def _is_end(text: str, start: int, end: re.Match[str]) -> bool:
    mark, at = text[end.start()], end.end()
    if mark.isspace():
        return at - start >= _CLAUSE
    if mark in _WIDE_STOPS:
        return text[at - 1] not in _WIDE_CLOSING or text[at] not in _GOES_ON_BEHIND_QUOTE
    if not text[at].isspace():
        return False
    following = text[at + 1 : at + 2]
    if following.islower():
        return False
    return mark != "." or not _is_shortened(text[max(start, at - _REACH) : at], following)


def _is_shortened(last_words: str, following: str) -> bool:
    """Whether the full stop at the end belongs to its word."""
    before, _, word = last_words.rpartition(" ")
    word = word.strip("(\u00ab\u201e\u201c\"'*_)]").lower()
    if not word.endswith("."):
        return False
    bare = word[:-1]
    if bare in _ABBREVIATIONS or all(len(part) == 1 and part.isalpha() for part in bare.split(".")):
        return True  # initials and "e.g."; of "z. B." each part is one of its own
    if following.isdigit():
        return bare in _BEFORE_FIGURE
    return (
        bare.isdigit()
        and len(bare) <= _LARGEST_ORDINAL_DIGITS
        and before.rpartition(" ")[2].lower() in _BEFORE_ORDINAL
    )

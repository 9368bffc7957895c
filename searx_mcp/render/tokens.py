"""Estimates the tokens of a text without a vocabulary, and truncates texts to a number of tokens.

For the weights and their derivation see docs/decisions/token-estimate.md.
"""

import re
from collections.abc import Iterable

from searx_mcp.models.style import before_leads

UNLIMITED = 1_000_000_000
"""A budget that no text exceeds."""

_CLASSES = (
    (r"[A-Za-z0-9]{24,}", 100),  # no word is so long: a hash or an encoding, a token per character
    (r"[A-Za-z]+", 30),
    (r"[0-9]+", 100),  # several tokenizers encode every digit separately
    (r"\n+", 100),
    (r"[ \t\r\f\v]+", 10),
    (r"[\x00-\x7f]", 55),  # the rest of ASCII: punctuation and control characters
    (r"[\u0400-\u052f]+", 60),  # Cyrillic
    (r"[\u0600-\u06ff\u0750-\u077f\u08a0-\u08ff]+", 120),  # Arabic
    (r"[\u3000-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff00-\uffef]+", 130),  # Han, kana
    (r"[\x80-\u07ff\u1e00-\u1eff\u2000-\u206f]+", 100),  # two bytes, Latin, punctuation
    (r"[\u0800-\uffff]+", 150),  # three bytes
    (r"[\U00010000-\U0010ffff]+", 400),  # four bytes: never more tokens than bytes
)
_RUN = re.compile("|".join(f"({pattern})" for pattern, _ in _CLASSES))
_WEIGHTS = (0, *(weight for _, weight in _CLASSES))
"""Hundredths of a token per character, at the index of the group that matched."""

_ASCII_KINDS = [
    next(
        kind for kind, (pattern, _) in enumerate(_CLASSES) if kind and re.match(pattern, chr(code))
    )
    for code in range(128)
]
_KINDS = bytes([*_ASCII_KINDS, *range(128, 256)])
"""The class of each ASCII character at its code; the first class has only long runs."""
_ASCII_WEIGHTS = {kind: _CLASSES[kind][1] for kind in sorted(set(_ASCII_KINDS))}
_LETTERS = bytes(1 if chr(code).isalnum() and code < 128 else 0 for code in range(256))  # noqa: PLR2004 - ASCII
_LONG_RUN = b"\1" * 24
_FOREIGN = re.compile(r"[^\x00-\x7f]+")
_RARE = re.compile(f"{_CLASSES[0][0]}|{_FOREIGN.pattern}")
_CHUNK = 2_048
_CHUNK_END = re.compile(r"[\x00-/:-@\[-`{-\x7f]")
"""Characters that belong to no run, where a text can be divided."""

_LONG = 2_000
"""Minimum characters for which a cut at the end of a paragraph would leave much room unused."""

_SENTENCE_END = re.compile(r"[.!?\u2026][\"')\]]*(?=\s)|[\u3002\uff01\uff1f]")
_FENCE = re.compile(
    r"^((?:[ \t>]|[-*+][ \t]|\d{1,9}[.)][ \t])*)(`{3,}(?=[^`\n]*$)|~{3,})(.*)$", re.MULTILINE
)


def estimate(text: str, *, limit: int | None = None) -> int:
    """Estimate the tokens of a text; rather too many than too few.

    A text whose parts are joined by whitespace never costs more than the sum of the parts.

    Args:
        text: any text.
        limit: stop counting above this many tokens; the result is then `limit` + 1.
    """
    stop = None if limit is None else limit * 100
    spent, end = _walk(text, stop)
    if limit is not None and end < len(text):
        return limit + 1
    return -(-spent // 100)


def line_cost(line: str) -> int:
    """Return the tokens of a line with the line break before it; 0 for no line."""
    return estimate(f"\n{line}") if line else 0


def lines_within(lines: Iterable[str], room: int) -> tuple[tuple[str, ...], int]:
    """Take lines while they fit, skipping those that are too long.

    Returns:
        The lines, and their total tokens.
    """
    taken: list[str] = []
    spent = 0
    for line in lines:
        price = line_cost(line)
        if spent + price <= room:
            taken.append(line)
            spent += price
    return tuple(taken), spent


def clip(text: str, budget: int) -> tuple[str, bool]:
    """Truncate plain text to a number of tokens, at the end of a paragraph, sentence, line or word.

    Returns:
        The text or its beginning, without headings and marks of lists that would be its last line, and whether it was
        cut.
    """
    end = _walk(text, budget * 100)[1]
    if end == len(text):
        return text, False
    return text[: before_leads(text, 0, _boundary(text, end))].rstrip(), True


def clip_words(text: str, budget: int) -> tuple[str, bool]:
    """Truncate plain text to a number of tokens after a word, if that leaves half of it or more.

    Returns:
        The text or its beginning, and whether it was cut.
    """
    end = _walk(text, budget * 100)[1]
    if end == len(text):
        return text, False
    place = text.rfind(" ", end // 2, end + 1)
    return text[: end if place < 0 else place].rstrip(), True


def fit(text: str, budget: int) -> tuple[str, int]:
    """Truncate Markdown like `clip`, and close the code block that the cut would leave open.

    Code blocks are recognised by their fences, at the margin or inside lists and quotes. One that is
    never closed inside its list item counts as open to the end.

    Returns:
        The text or its beginning, and how many characters of the text it contains.
    """
    room = max(budget, 0)
    while True:
        prefix, was_cut = clip(text, room)
        if not was_cut:
            return text, len(text)
        closed = prefix + closing(prefix)
        excess = estimate(closed) - budget
        if excess <= 0 or not prefix:
            return closed, len(prefix)
        room -= excess


def share(needs: list[int], room: int) -> list[int]:
    """Divide room evenly, with no item getting more than it needs.

    Returns:
        One grant per need, in the same order; together at most `room`.
    """
    grants = [0] * len(needs)
    smallest_first = sorted(range(len(needs)), key=needs.__getitem__)
    for done, index in enumerate(smallest_first):
        grants[index] = max(0, min(needs[index], room // (len(needs) - done)))
        room -= grants[index]
    return grants


def _walk(text: str, stop: int | None) -> tuple[int, int]:
    """Add up hundredths of tokens until `stop` would be exceeded; return the sum and the position."""
    spent = start = 0
    while start < len(text):
        found = _CHUNK_END.search(text, start + _CHUNK)
        end = found.start() if found else len(text)
        cost = _cost(text[start:end])
        if stop is not None and spent + cost > stop:
            return _walk_runs(text, start, spent, stop)
        spent, start = spent + cost, end
    return spent, len(text)


def _walk_runs(text: str, start: int, spent: int, stop: int) -> tuple[int, int]:
    """Do the same from `start` on, run by run, to the exact character."""
    for run in _RUN.finditer(text, start):
        weight = _WEIGHTS[run.lastindex or 0]
        cost = (run.end() - run.start()) * weight
        if spent + cost > stop:
            fitting = max(0, stop - spent) // weight
            return spent + fitting * weight, run.start() + fitting
        spent += cost
    return spent, len(text)


def _cost(text: str) -> int:
    """Return the hundredths of tokens of a whole text: many times faster than run by run, with the same sum."""
    plain = text.encode("ascii", "replace")
    kinds = plain.translate(_KINDS)
    spent = sum(kinds.count(kind) * weight for kind, weight in _ASCII_WEIGHTS.items())
    if _LONG_RUN in plain.translate(_LETTERS):
        return spent + sum(_surplus(run[0]) for run in _RARE.finditer(text))
    if not text.isascii():
        spent += sum(_surplus(run[0]) for run in _FOREIGN.finditer(text))
    return spent


def _surplus(run: str) -> int:
    """Return the extra cost of characters over their count as ASCII, where non-ASCII counts as question marks."""
    counted = sum(_ASCII_WEIGHTS[kind] for kind in run.encode("ascii", "replace").translate(_KINDS))
    return (
        sum(
            (part.end() - part.start()) * _WEIGHTS[part.lastindex or 0]
            for part in _RUN.finditer(run)
        )
        - counted
    )


def _boundary(text: str, end: int) -> int:
    """Return the best place to cut at or before `end`, no earlier than half of it; of a long text, a twelfth."""
    floor = end // 2 if end < _LONG else end - end // 12
    paragraph = text.rfind("\n\n", floor, end + 2)
    if paragraph > floor:
        return paragraph
    ends = (match.end() for match in _SENTENCE_END.finditer(text, floor, end + 1))
    if sentence := max((place for place in ends if place <= end), default=0):
        return sentence
    for separator in ("\n", " "):
        place = text.rfind(separator, floor, end + 1)
        if place > floor:
            return place
    return end


def closing(text: str) -> str:
    """Return what closes the code block in which a text ends: a line break and a line, or nothing."""
    opened: tuple[str, str] | None = None
    for line in _FENCE.finditer(text):
        lead, marker, rest = line.groups()
        if opened is None:
            opened = (re.sub(r"[^ \t>]", " ", lead), marker)
        elif marker.startswith(opened[1]) and not rest.strip():
            opened = None
    return "" if opened is None else "\n" + "".join(opened)

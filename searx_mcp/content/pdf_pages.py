"""Which pages of a PDF an address asks for; apart from what reads them, which takes longer to import."""

import re
from collections.abc import Sequence
from typing import Final

_MAX_RANGES: Final = 100

_RANGES = re.compile(r"[0-9]{1,7}(?:-[0-9]{0,7})?(?:,[0-9]{1,7}(?:-[0-9]{0,7})?)*+")
_FRAGMENT = re.compile(rf"(?:^|[#&])pages?=({_RANGES.pattern})(?:&|$)")


def pages_of(fragment: str) -> str:
    """The pages that the fragment of an address asks for.

    `page` is a parameter of RFC 8118; there it names one page, and ranges are ours.

    Args:
        fragment: as in `page=3-7,9`, with or without `#`; any string.

    Returns:
        Such as `3-7,9`, or `3-` for all from the third; empty if it asks for none.
    """
    found = _FRAGMENT.search(fragment.lower())
    return found[1] if found and found[1].count(",") < _MAX_RANGES else ""


def ranges_of(pages: str, count: int) -> Sequence[range]:
    """The pages asked for as ranges; nothing for what `pages_of` would not give."""
    if not _RANGES.fullmatch(pages):
        return ()
    found = []
    for part in pages.split(",")[:_MAX_RANGES]:
        first, dash, last = part.partition("-")
        ends = int(first), int(last) if last else max(count, int(first)) if dash else int(first)
        found.append(range(min(ends), max(ends) + 1))
    return found

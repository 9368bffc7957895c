"""VitePress: its local search, a MiniSearch index in a string that a module exports.

The fields `title` and `titles` (the headings above) are stored; the words of the text are only in the inverted
index, and are collected by document from there.
"""

import re
from collections import defaultdict
from collections.abc import Iterator
from typing import Final

from searx_mcp.content.site_index.entry import (
    IndexEntry,
    IndexFormat,
    items,
    mapping,
    required,
    rows,
    string,
)
from searx_mcp.content.site_index.literals import value_after

_START = re.compile(r"\A\s*(?:(?:const|var|let)\s+[\w$]{1,40}\s*=\s*|export\s+default\s+)?")
_WORDS: Final = 4_000
_PAIR: Final = 2


def read(text: str) -> Iterator[IndexEntry]:
    """Read the index: `documentIds` are addresses, `storedFields` names, `index` the words."""
    index = required(value_after(text, _START), "MiniSearch")
    stored = mapping(index.get("storedFields"))
    words = _words(index.get("index"))
    for number, address in items(index.get("documentIds")):
        fields = mapping(stored.get(number))
        above = " ".join(map(string, rows(fields.get("titles"))))
        if isinstance(address, str):
            yield IndexEntry(
                address, string(fields.get("title")), f"{above} {' '.join(words[number])}"
            )


def _words(index: object) -> dict[str, list[str]]:
    found: dict[str, list[str]] = defaultdict(list)
    sizes: dict[str, int] = defaultdict(int)
    for row in rows(index):
        pair = [*rows(row)]
        if len(pair) != _PAIR or not isinstance(pair[0], str):
            continue
        for numbers in rows(pair[1]):
            for number, _ in items(numbers):
                if sizes[number] + len(pair[0]) < _WORDS:
                    sizes[number] += len(pair[0]) + 1
                    found[number].append(pair[0])
    return found


FORMAT: Final = IndexFormat("vitepress", read)

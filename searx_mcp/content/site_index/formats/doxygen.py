"""Doxygen: `search/searchdata.js` lists the first letters of names; a file for each, from `all_0.js`, lists names.

`['id',['Name',['../page.html#anchor',1,'Scope'],...]]` is a row: one name, and the places where it is defined.
"""

import re
from collections.abc import Iterator
from typing import Final

from searx_mcp.content.site_index.entry import (
    IndexEntry,
    IndexFile,
    IndexFormat,
    Row,
    mapping,
    rows,
    string,
)
from searx_mcp.content.site_index.literals import value_after

_LETTERS = re.compile(r"\bindexSectionsWithContent\s*=\s*")
_NAMES = re.compile(r"\bsearchData\s*=\s*")
_MOST: Final = 256
_NAMED: Final = 2


def read(text: str) -> Iterator[Row]:
    """Read the letters, or the names that begin with one of them."""
    if _LETTERS.search(text):
        yield from _letters(text)
    else:
        yield from _names(text)


def _letters(text: str) -> Iterator[IndexFile]:
    all_of_them = string(mapping(value_after(text, _LETTERS)).get("0"))
    for place, letter in enumerate(all_of_them[:_MOST]):
        yield IndexFile(f"all_{place:x}.js", letter, "doxygen")


def _names(text: str) -> Iterator[IndexEntry]:
    for row in rows(value_after(text, _NAMES)):
        found = [*rows(row)]
        named = [*rows(found[1])] if len(found) == _NAMED else []
        name = string(named[0]) if named else ""
        for each in named[1:]:
            place = [*rows(each)]
            address = string(place[0]) if place else ""
            if name and address:
                yield IndexEntry(address, name, string(place[-1]))


FORMAT: Final = IndexFormat("doxygen", read)

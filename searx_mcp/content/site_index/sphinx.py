"""Sphinx: the index of its search, and the inventory of names that other projects may link to.

`searchindex.js` is `Search.setIndex({...})`; before Sphinx 5 its members have unquoted names. It lists documents and
not addresses: the address is the document's name with `.html`, or as a folder, depending on the page. `objects.inv`
is four lines, then zlib-compressed lines.
"""

import re
import zlib
from collections.abc import Iterator
from itertools import chain
from typing import Final

from searx_mcp.content.site_index.entry import (
    MOST_ENTRIES,
    MOST_ROWS,
    Collected,
    IndexEntry,
    items,
    place,
    required,
    rows,
    string,
)
from searx_mcp.content.site_index.literals import value_after

_CALL = re.compile(r"Search\.setIndex\(\s*")
_COMMON: Final = 0.2
"""Share of the documents from which a word is too common to be kept."""
_FEW: Final = 3
_NAMES: Final = 3_000
_WORDS: Final = 4_000
"""Characters of names and of words that are kept for a document, rare words first."""

MAX_UNPACKED: Final = 16 << 20
"""Bytes. Inventories of large projects unpack to five times their size; 8 MB could become 8 GB."""
_HEAD: Final = "# Sphinx inventory version "
_LINE = re.compile(r"(?P<name>\S.*?)\s+\S+:\S+\s+-?\d{1,9}\s+(?P<uri>\S*)\s+(?P<shown>.*)")
_MAX_LINE: Final = 1_000
_OLD: Final = 3


def search_index(text: str, *, ending: str) -> Iterator[IndexEntry]:
    """Read the index: each document with its sections, objects and words.

    Args:
        text: of `searchindex.js`.
        ending: of addresses, after the name of a document.
    """
    index = required(value_after(text, _CALL), "Sphinx")
    names = [string(name) for name in rows(index.get("docnames") or index.get("filenames"))]
    if not any(names):
        raise ValueError("the index of Sphinx names no document")
    count = min(len(names), MOST_ENTRIES)
    titles = [*map(string, rows(index.get("titles")))]
    said = Collected(_NAMES)
    headed = (
        (next(rows(row), None), name)
        for name, places in chain(items(index.get("alltitles")), items(index.get("indexentries")))
        for row in rows(places)
    )
    defined = (
        (document, f"{prefix}.{name}" if prefix else name)
        for prefix, objects in items(index.get("objects"))
        for name, document in _objects(objects)
    )
    for document, name in chain(headed, defined):
        if (at := place(document, count)) is not None:
            said.add(at, name)
    telling = _rare(index.get("terms"), count)
    for at, name in enumerate(names[:count]):
        if name:
            title = titles[at] if at < len(titles) else ""
            words = f"{' '.join(dict.fromkeys(said.of(at)))} {' '.join(telling.of(at))}"
            yield IndexEntry(_address(name, ending), title, words)


def _objects(objects: object) -> Iterator[tuple[str, object]]:
    """The objects of a module: `{name: [document, ...]}`, since Sphinx 4.3 `[[document, ..., name], ...]`."""
    if isinstance(objects, list):
        for row in rows(objects):
            found = [*rows(row)]
            if found:
                yield string(found[-1]), found[0]
    else:
        for name, row in items(objects):
            yield name, next(rows(row), None)


def _rare(terms: object, documents: int) -> Collected:
    """The words of each document that few others have, the rarest first."""
    most = max(_FEW, _COMMON * documents)
    found: list[tuple[int, str, list[int]]] = []
    for term, where in items(terms):
        listed = rows(where) if isinstance(where, list) else iter((where,))
        places = [at for each in listed if (at := place(each, documents)) is not None]
        if places and len(places) <= most:
            found.append((len(places), term, places))
    telling = Collected(_WORDS)
    for _, term, places in sorted(found, key=lambda each: each[0])[:MOST_ROWS]:
        for at in places:
            telling.add(at, term)
    return telling


def _address(name: str, ending: str) -> str:
    if ending != "/":
        return f"{name}{ending}"
    folder = (
        name.removesuffix("index") if name.endswith("/index") or name == "index" else f"{name}/"
    )
    return folder or "./"


def inventory(text: str) -> Iterator[IndexEntry]:
    """Read an inventory.

    Args:
        text: of `objects.inv`, each byte as one character.
    """
    head, _, rest = text.partition("\n")
    version = head.removeprefix(_HEAD).strip()
    if not head.startswith(_HEAD) or version not in {"1", "2"}:
        raise ValueError("no inventory of Sphinx")
    for _ in range(2 if version == "1" else 3):
        rest = rest.partition("\n")[2]
    if version == "1":
        yield from _plain(rest)
        return
    for line in _unpacked(rest.encode("latin-1")).split("\n", MOST_ROWS)[:MOST_ROWS]:
        found = _LINE.fullmatch(line) if len(line) <= _MAX_LINE else None
        if found is not None:
            name = found["name"]
            uri = found["uri"]
            if uri.endswith("$"):
                uri = f"{uri[:-1]}{name}"
            yield IndexEntry(uri, name if found["shown"] == "-" else found["shown"], name)


def _plain(text: str) -> Iterator[IndexEntry]:
    """Lines of version 1: name, kind, address."""
    for line in text.split("\n", MOST_ROWS)[:MOST_ROWS]:
        parts = line[:_MAX_LINE].split()
        if len(parts) == _OLD:
            yield IndexEntry(parts[2], parts[0])


def _unpacked(data: bytes) -> str:
    try:
        found = zlib.decompressobj().decompress(data, MAX_UNPACKED)
    except zlib.error as exc:
        raise ValueError("the inventory cannot be unpacked") from exc
    return found.decode("utf-8", "replace")

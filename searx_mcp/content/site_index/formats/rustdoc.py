"""rustdoc: `search-index.js`, since Rust 1.52 parallel lists for each crate in `JSON.parse('...')`.

`n` has names, `t` their kinds (a letter each, before 1.69 a number), `q` modules (by their first item), `d`
descriptions. Methods and fields have no separate page and are left out. Since 1.91 the index is spread over many
files in a packed form, which is not read.
"""

import re
from collections.abc import Iterator
from typing import Final

from searx_mcp.content.site_index.entry import (
    IndexEntry,
    IndexFormat,
    items,
    mapping,
    place,
    rows,
    string,
)
from searx_mcp.content.site_index.literals import value_after

_START = re.compile(r"\bsearchIndex\s*=\s*(?:new Map\()?(?:JSON\.parse\()?")
_KINDS: Final = {
    0: "", 3: "struct", 4: "enum", 5: "fn", 6: "type", 7: "static", 8: "trait", 14: "macro", 15: "primitive", 17: "constant",
    19: "union", 20: "foreigntype", 21: "keyword", 23: "attr", 24: "derive", 25: "traitalias",
}  # fmt: skip
"""Kinds of items that have a page, by number: `enum ItemType` of rustdoc. A module is a folder."""
_PAIR: Final = 2


def read(text: str) -> Iterator[IndexEntry]:
    """Read the items that have pages, crate by crate."""
    for name, crate in _crates(value_after(text, _START)):
        yield IndexEntry(f"{name}/index.html", name, string(mapping(crate).get("doc")))
        yield from _items(name, crate)


def _crates(value: object) -> Iterator[tuple[str, object]]:
    """The crates: an object by name, or a list of pairs."""
    if isinstance(value, dict):
        yield from items(value)
        return
    for row in rows(value):
        pair = [*rows(row)]
        if len(pair) == _PAIR and isinstance(pair[0], str):
            yield pair[0], pair[1]


def _items(crate: str, value: object) -> Iterator[IndexEntry]:
    found = mapping(value)
    names = [*map(string, rows(found.get("n")))]
    kinds = _numbers(found.get("t"))
    modules = _modules(found.get("q"), len(names))
    descriptions = [*map(string, rows(found.get("d")))]
    module = crate
    for at, name in enumerate(names):
        module = modules.get(at) or module
        kind = _KINDS.get(kinds[at]) if at < len(kinds) else None
        if kind is None or not name:
            continue
        folder = module.replace("::", "/")
        address = f"{folder}/{kind}.{name}.html" if kind else f"{folder}/{name}/index.html"
        said = descriptions[at] if at < len(descriptions) else ""
        yield IndexEntry(address, name, f"{kind or 'module'} {module} {said}")


def _numbers(kinds: object) -> list[int]:
    if isinstance(kinds, str):
        return [ord(letter) - ord("A") for letter in kinds]
    return [kind if isinstance(kind, int) else -1 for kind in rows(kinds)]


def _modules(value: object, names: int) -> dict[int, str]:
    """The module from each item on: pairs of a position and a path, or a path, perhaps empty, for each item."""
    found: dict[int, str] = {}
    for at, each in enumerate(rows(value)):
        if isinstance(each, str):
            found[at] = each
            continue
        pair = [*rows(each)]
        start = place(pair[0], names) if len(pair) == _PAIR else None
        if start is not None:
            found[start] = string(pair[1])
    return found


FORMAT: Final = IndexFormat("rustdoc", read)

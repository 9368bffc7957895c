"""Lists of the names in code, as rustdoc, javadoc and Doxygen write them for their search."""

import re
from collections.abc import Iterator
from typing import Final

from searx_mcp.content.site_index.entry import (
    IndexEntry,
    IndexFile,
    Row,
    items,
    mapping,
    pair,
    place,
    rows,
    string,
)
from searx_mcp.content.site_index.literals import value_after

_RUSTDOC = re.compile(r"\bsearchIndex\s*=\s*(?:new Map\()?(?:JSON\.parse\()?")
_RUST_KINDS: Final = {
    0: "", 3: "struct", 4: "enum", 5: "fn", 6: "type", 7: "static", 8: "trait", 14: "macro", 15: "primitive", 17: "constant",
    19: "union", 20: "foreigntype", 21: "keyword", 23: "attr", 24: "derive", 25: "traitalias",
}  # fmt: skip
"""Kinds of items that have a page, by number: `enum ItemType` of rustdoc. A module is a folder."""


def rustdoc(text: str) -> Iterator[IndexEntry]:
    """Read `search-index.js`, since Rust 1.52 parallel lists for each crate in `JSON.parse('...')`.

    `n` has names, `t` their kinds (a letter each, before 1.69 a number), `q` modules (by their first item), `d`
    descriptions. Methods and fields have no separate page and are left out. Since 1.91 the index is spread over many
    files in a packed form, which is not read.
    """
    for name, crate in _crates(value_after(text, _RUSTDOC)):
        yield IndexEntry(f"{name}/index.html", name, string(mapping(crate).get("doc")))
        yield from _rust_items(name, crate)


def _crates(value: object) -> Iterator[tuple[str, object]]:
    """The crates: an object by name, or a list of pairs."""
    if isinstance(value, dict):
        yield from items(value)
        return
    for row in rows(value):
        name, crate = pair(row) or (None, None)
        if isinstance(name, str):
            yield name, crate


def _rust_items(crate: str, value: object) -> Iterator[IndexEntry]:
    found = mapping(value)
    names = [*map(string, rows(found.get("n")))]
    kinds = _rust_kinds(found.get("t"))
    modules = _rust_modules(found.get("q"), len(names))
    descriptions = [*map(string, rows(found.get("d")))]
    module = crate
    for at, name in enumerate(names):
        module = modules.get(at) or module
        kind = _RUST_KINDS.get(kinds[at]) if at < len(kinds) else None
        if kind is None or not name:
            continue
        folder = module.replace("::", "/")
        address = f"{folder}/{kind}.{name}.html" if kind else f"{folder}/{name}/index.html"
        said = descriptions[at] if at < len(descriptions) else ""
        yield IndexEntry(address, name, f"{kind or 'module'} {module} {said}")


def _rust_kinds(kinds: object) -> list[int]:
    if isinstance(kinds, str):
        return [ord(letter) - ord("A") for letter in kinds]
    return [kind if isinstance(kind, int) else -1 for kind in rows(kinds)]


def _rust_modules(value: object, names: int) -> dict[int, str]:
    """The module from each item on: pairs of a position and a path, or a path, perhaps empty, for each item."""
    found: dict[int, str] = {}
    for at, each in enumerate(rows(value)):
        if isinstance(each, str):
            found[at] = each
            continue
        start, module = pair(each) or (None, None)
        if (first := place(start, names)) is not None:
            found[first] = string(module)
    return found


_JAVADOC = re.compile(r"\A\s*(?:var\s+)?(?:type|package)SearchIndex\s*=\s*")


def javadoc(text: str) -> Iterator[IndexEntry]:
    """Read `type-search-index.js` or `package-search-index.js`, since JDK 9 a list assigned to a variable.

    A type has its package `p` and its name `l`, but not its module: in documentation with modules, only packages have
    addresses here (`m`), and their pages link to the types.
    """
    for row in rows(value_after(text, _JAVADOC)):
        found = mapping(row)
        name, package = string(found.get("l")), string(found.get("p"))
        own = string(found.get("u")) or string(found.get("url"))
        module = string(found.get("m"))
        above = f"{module}/" if module else ""
        if own:
            yield IndexEntry(own, name)
        elif name and "p" in found:
            folder = f"{package.replace('.', '/')}/" if package else ""
            yield IndexEntry(f"{above}{folder}{name}.html", name, package)
        elif name:
            yield IndexEntry(f"{above}{name.replace('.', '/')}/package-summary.html", name, module)


_DOXYGEN_LETTERS = re.compile(r"\bindexSectionsWithContent\s*=\s*")
_DOXYGEN_NAMES = re.compile(r"\bsearchData\s*=\s*")
_MOST_LETTERS: Final = 256


def doxygen(text: str) -> Iterator[Row]:
    """Read the first letters of names (`search/searchdata.js`), or the names with one of them (from `all_0.js`).

    `['id',['Name',['../page.html#anchor',1,'Scope'],...]]` is a row: one name, and the places where it is defined.
    """
    if _DOXYGEN_LETTERS.search(text):
        yield from _doxygen_letters(text)
    else:
        yield from _doxygen_names(text)


def _doxygen_letters(text: str) -> Iterator[IndexFile]:
    all_of_them = string(mapping(value_after(text, _DOXYGEN_LETTERS)).get("0"))
    for at, letter in enumerate(all_of_them[:_MOST_LETTERS]):
        yield IndexFile(f"all_{at:x}.js", letter, "doxygen")


def _doxygen_names(text: str) -> Iterator[IndexEntry]:
    for row in rows(value_after(text, _DOXYGEN_NAMES)):
        _, values = pair(row) or (None, None)
        named = [*rows(values)]
        name = string(named[0]) if named else ""
        for each in named[1:]:
            defined = [*rows(each)]
            address = string(defined[0]) if defined else ""
            if name and address:
                yield IndexEntry(address, name, string(defined[-1]))

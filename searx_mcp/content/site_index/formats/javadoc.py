"""Javadoc: `type-search-index.js` and `package-search-index.js`, since JDK 9 a list assigned to a variable.

A type has its package `p` and its name `l`, but not its module: in documentation with modules, only packages have
addresses here (`m`), and their pages link to the types.
"""

import re
from collections.abc import Iterator
from typing import Final

from searx_mcp.content.site_index.entry import IndexEntry, IndexFormat, mapping, rows, string
from searx_mcp.content.site_index.literals import value_after

_START = re.compile(r"\A\s*(?:var\s+)?(?:type|package)SearchIndex\s*=\s*")


def read(text: str) -> Iterator[IndexEntry]:
    """Read types, or packages."""
    for row in rows(value_after(text, _START)):
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


FORMAT: Final = IndexFormat("javadoc", read)

"""Sphinx: `objects.inv`, the names that other projects may link to; four lines, then zlib-compressed lines."""

import re
import zlib
from collections.abc import Iterator
from typing import Final

from searx_mcp.content.site_index.entry import MOST_ROWS, IndexEntry, IndexFormat

MAX_UNPACKED: Final = 16 << 20
"""Bytes. Inventories of large projects unpack to five times their size; 8 MB could become 8 GB."""
_HEAD: Final = "# Sphinx inventory version "
_LINE = re.compile(r"(?P<name>\S.*?)\s+\S+:\S+\s+-?\d{1,9}\s+(?P<uri>\S*)\s+(?P<shown>.*)")
_MAX_LINE: Final = 1_000
_OLD: Final = 3


def read(text: str) -> Iterator[IndexEntry]:
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


FORMAT: Final = IndexFormat("sphinx-inventory", read, is_packed=True)

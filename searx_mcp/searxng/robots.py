"""Whether an operator's robots.txt asks us, by our name, to stay away.

Rules for all robots are for crawlers, and SearXNG's own robots.txt closes its search to them: they
say nothing about the search of a person. A group that names us is meant for us.
"""

import re
from collections.abc import Iterator
from typing import Final

from protego import Protego

TOKEN: Final = "searx-mcp"  # noqa: S105 - a product token, RFC 9309 §2.2.1
MAX_ROBOTS: Final = 512_000
"""Bytes or characters that are read: 500 KiB, the least a reader must take (RFC 9309 §2.5)."""

_PRODUCT = re.compile(r"[a-z_-]+")


def forbids_us(text: str, *, search_path: str = "/search") -> bool:
    """Whether a group of rules that names `searx-mcp` forbids a search.

    As RFC 9309 has it, a group begins with one or more `User-agent` lines, names are compared in
    any case, groups with the same name are joined, the longest rule decides, and blank lines and
    unknown fields mean nothing. Versions and asterisks beside a name are passed over. So the one
    line `User-agent: searx-mcp`, put above a group, makes that group's rules hold for us.

    Args:
        text: the robots.txt at the root of the instance's origin; anything else forbids nothing.
        search_path: the path of the instance's search.
    """
    rules = list(_rules_for_us(text[:MAX_ROBOTS]))
    if not rules:
        return False
    ours = Protego.parse("\n".join([f"User-agent: {TOKEN}", *rules]))
    return not ours.can_fetch(f"{search_path}?q=x", TOKEN)


def _rules_for_us(text: str) -> Iterator[str]:
    """The rules of all groups that name us, in their order."""
    names_us = False
    among_names = False
    for line in text.removeprefix("\ufeff").splitlines():
        name, _, value = line.partition("#")[0].partition(":")
        field = name.strip().lower()
        if field == "user-agent":
            names_us = (among_names and names_us) or _is_us(value)
            among_names = True
        elif field in {"allow", "disallow"}:
            among_names = False
            if names_us:
                yield f"{field}: {value.strip()}"


def _is_us(name: str) -> bool:
    product = _PRODUCT.match(name.replace("*", "").strip().lower())
    return product is not None and product[0] == TOKEN

"""Whether an operator's robots.txt asks us, by our name, to stay away.

Rules for all robots are for crawlers, and SearXNG's own robots.txt closes its search to them: they
say nothing about the search of a person. A group that names us is meant for us.
"""

from typing import Final

from yarl import URL

from searx_mcp.http.robots_rules import PARSED_BYTES, Rules

MAX_ROBOTS: Final = PARSED_BYTES
"""Bytes or characters that are read."""


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
    rules = Rules(text[:MAX_ROBOTS].removeprefix("\ufeff"), by_name=True)
    return rules.forbidden_by(URL(f"http://host{search_path}?q=x")) is not None

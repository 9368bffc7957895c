"""User-Agent strings of desktop browsers."""

import functools
import random
from typing import Final

FALLBACK: Final = "Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:145.0) Gecko/20100101 Firefox/145.0"
"""Firefox on Windows, November 2025."""

_BROWSERS: Final = frozenset({"Chrome", "Edge", "Firefox", "Safari"})


def desktop_user_agent(rng: random.Random) -> str:
    """Draw a desktop User-Agent at random, weighted by its use; ASCII only.

    The data come with fake-useragent; there is no network request.
    """
    agents, weights = _desktop_agents()
    return rng.choices(agents, weights)[0]


@functools.cache  # constant package data; reading them takes tens of milliseconds
def _desktop_agents() -> tuple[tuple[str, ...], tuple[float, ...]]:
    from fake_useragent import FakeUserAgent, FakeUserAgentError  # noqa: PLC0415 - 40 ms to import; not before a public instance is asked

    try:
        rows = FakeUserAgent().data_browsers
    except FakeUserAgentError:
        rows = []
    drawn = [
        (row["useragent"], row["percent"])
        for row in rows
        if row["type"] == "desktop" and row["browser"] in _BROWSERS and row["useragent"].isascii()
    ]
    agents, weights = zip(*drawn, strict=True) if drawn else ((FALLBACK,), (1.0,))
    return agents, weights

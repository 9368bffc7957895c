"""How long to leave an instance alone, as plain formulas.

All times are seconds; `rng` supplies the jitter, so that several processes do not return at the same time.
`docs/decisions/pool.md` gives the measurements behind the constants.
"""

from typing import TYPE_CHECKING

from searx_mcp.models.attempt import Format, Verdict

if TYPE_CHECKING:
    import random

HOUR = 3_600.0
DAY = 24 * HOUR

FAILING_BASE = 30.0
FAILING_CAP = HOUR
JSON_WINDOW = HOUR
"""SearXNG's limiter counts API calls over one hour; refused calls count, so wait a whole window."""
HTML_WINDOW = 600.0
"""The limiter's long window for pages."""
HTML_CAP = 6 * HOUR
BLOCK_STEPS = (DAY, 3 * DAY, 30 * DAY)
"""A redirect to the home page shows that the limiter's thirty-day limit is reached."""
QUARANTINE_STEPS = (DAY, 3 * DAY, 7 * DAY)
OPT_OUT = 30 * DAY
"""How long an operator's opt-out holds before robots.txt is read again."""
SETTLED = HOUR
"""After this time in good health, earlier failures are forgotten."""
JSON_RECHECK = 7 * DAY
"""Operators rarely enable a format; asking once a week is enough."""
OWN_LIMIT_BASE = 10.0
"""The first wait after a limit of an own instance: its owner may lift it any moment, and its short window for
pages is 20 s."""
OWN_LIMIT_CAP = 120.0
"""The longest wait after a 429 of an own instance, whatever it asks for: there is no other to ask."""
OWN_BLOCK_STEPS = (60.0, 300.0, 600.0)
"""Waits after a challenge or a block in front of an own instance: waiting does not help a program past it,
and a person removes it within minutes."""
OVERTAKEN_BASE = 30.0
OVERTAKEN_CAP = 600.0
"""Seconds for which an overtaken instance comes after all others, first and at most. Hedging it costs a
request, so it is tried again once in ten minutes."""


def failing_time(episode: int, rng: "random.Random", *, retry_after: float | None = None) -> float:
    """Return an exponential backoff with equal jitter: d/2 + U(0, d/2), d = min(cap, 30 * 2^(episode - 1)).

    Equal jitter keeps a minimum, which full jitter does not: an early retry would count against the host's
    thirty-day window. A longer `Retry-After` is honoured, plus up to 10 %.

    Args:
        episode: 1 for the first failing time in a row.
        rng: source of the jitter.
        retry_after: seconds the host asked for.
    """
    longest = min(FAILING_CAP, FAILING_BASE * 2 ** (min(episode, 20) - 1))
    wait = rng.uniform(longest / 2, longest)
    return wait if retry_after is None else max(wait, retry_after * rng.uniform(1.0, 1.1))


def limited_time(
    verdict: Verdict,
    format: Format,  # noqa: A002 - the field's word for JSON or HTML
    *,
    episode: int,
    retry_after: float | None,
    base: float,
    rng: "random.Random",
    doubling: bool = False,
) -> float:
    """Return the wait after a limit or a block, at least `base`.

    A `Retry-After` is honoured, plus up to 10 %. SearXNG itself never sends one, so without it the wait is
    the limiter's own window plus up to 20 %: one hour for JSON; ten minutes for pages, doubled with each
    episode up to six hours; one, three and thirty days for a block. Where there is no such limiter, it is
    `base`, `doubling` with each episode up to an hour.
    """
    if retry_after is not None:
        return max(base, retry_after) * rng.uniform(1.0, 1.1)
    if verdict is not Verdict.RATE_LIMITED:
        wait = BLOCK_STEPS[min(episode, len(BLOCK_STEPS)) - 1]
    elif doubling:
        wait = min(HOUR, base * 2 ** (min(episode, 20) - 1))
    elif format is Format.JSON:
        wait = JSON_WINDOW
    else:
        wait = min(HTML_CAP, HTML_WINDOW * 2 ** (min(episode, 20) - 1))
    return max(base, wait) * rng.uniform(1.0, 1.2)


def own_limited_time(
    verdict: Verdict, *, episode: int, retry_after: float | None, rng: "random.Random"
) -> float:
    """Return the wait after a limit or a block of an own instance, plus up to 10 %.

    A `Retry-After` of a 429 is honoured up to two minutes; without one the wait doubles from ten seconds up
    to that. After a challenge or a block it is one, five and ten minutes.
    """
    if verdict is not Verdict.RATE_LIMITED:
        wait = OWN_BLOCK_STEPS[min(episode, len(OWN_BLOCK_STEPS)) - 1]
    elif retry_after is not None:
        wait = retry_after
    else:
        wait = OWN_LIMIT_BASE * 2 ** (min(episode, 20) - 1)
    longest = OWN_LIMIT_CAP if verdict is Verdict.RATE_LIMITED else OWN_BLOCK_STEPS[-1]
    return min(longest, wait * rng.uniform(1.0, 1.1))


def overtaken_time(times: int) -> float:
    """Return how long an instance comes after all others, by how often in a row it was overtaken."""
    return min(OVERTAKEN_CAP, OVERTAKEN_BASE * 2.0 ** (min(times, 20) - 1))


def quarantine_time(episode: int, rng: "random.Random") -> float:
    """Return one, three, then seven days, plus up to 20 %."""
    return QUARANTINE_STEPS[min(episode, len(QUARANTINE_STEPS)) - 1] * rng.uniform(1.0, 1.2)

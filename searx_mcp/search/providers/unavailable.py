"""Why nothing could serve a search, in words a person can act on."""

from collections.abc import Collection, Sequence

from searx_mcp.errors import NoInstancesError, UnavailableReason
from searx_mcp.models.attempt import Attempt
from searx_mcp.search.providers.own_causes import own_cause, resting

_OWN_INSTANCE = (
    "For searching without limits, run `searx-mcp instances own up` on this machine (no Docker, no"
    " root), or point SEARXNG_URL at a SearXNG instance of your own."
)

CHECK_NETWORK = "Check the connection, DNS and proxy of this machine, then search again."
SOON = 30.0
"""A dead network or a stopped own instance may be back any moment, whatever the timers say."""


def unavailable(
    *,
    own: Collection[str],
    has_public: bool,
    attempts: Sequence[Attempt],
    budget_retry: float | None,
    state_retry: float | None,
    own_rests: str = "",
) -> NoInstancesError:
    """The error that fits what was tried.

    Args:
        own: base URLs of own instances.
        has_public: whether public instances may be asked.
        attempts: the requests made for this search.
        budget_retry: seconds until the first spent budget has room again, or `None`.
        state_retry: seconds until the first resting instance may be asked again, or `None`.
        own_rests: why an own instance was not asked; empty if none rests.
    """
    waits = [wait for wait in (budget_retry, state_retry) if wait is not None]
    retry_after = min(waits, default=None)
    at_own = [attempt for attempt in attempts if attempt.instance in own]
    reason = _reason(
        has_own=bool(own),
        has_public=has_public,
        attempts=attempts,
        at_own=at_own,
        own_rests=own_rests,
        budget_retry=budget_retry,
    )
    if reason in _OWN:
        message, advice = own_cause(at_own) or resting(own_rests)
    else:
        message, advice = _TEXTS[reason]
    if reason is UnavailableReason.NOTHING_CONFIGURED:
        retry_after = None
    elif reason in {UnavailableReason.OFFLINE, UnavailableReason.OWN_DOWN}:
        retry_after = min(retry_after or SOON, SOON)
    return NoInstancesError(
        message, reason=reason, attempts=tuple(attempts), advice=advice, retry_after=retry_after
    )


_OWN = frozenset({UnavailableReason.OWN_DOWN, UnavailableReason.OWN_FAILED})
_TEXTS = {
    UnavailableReason.NOTHING_CONFIGURED: (
        "No SearXNG instance is configured: the pool is empty",
        f"{_OWN_INSTANCE} Or allow public ones with instances.public = on.",
    ),
    UnavailableReason.OFFLINE: (
        "No SearXNG instance could be reached at all: the network here looks down",
        CHECK_NETWORK,
    ),
    UnavailableReason.BUDGET_SPENT: (
        "What public SearXNG instances allow this machine is used up for now",
        f"Wait, or use web_fetch on pages you know. {_OWN_INSTANCE}",
    ),
    UnavailableReason.EXHAUSTED: (
        "All SearXNG instances that could be asked are unavailable or rate limited",
        f"Try again later or with other words. {_OWN_INSTANCE}",
    ),
}


def _reason(
    *,
    has_own: bool,
    has_public: bool,
    attempts: Sequence[Attempt],
    at_own: Sequence[Attempt],
    own_rests: str,
    budget_retry: float | None,
) -> UnavailableReason:
    if not has_own and not has_public:
        return UnavailableReason.NOTHING_CONFIGURED
    if has_public and attempts and all(attempt.verdict.is_network for attempt in attempts):
        return UnavailableReason.OFFLINE
    if own_cause(at_own) is not None:
        is_down = all(attempt.verdict.is_network for attempt in at_own)
        return UnavailableReason.OWN_DOWN if is_down else UnavailableReason.OWN_FAILED
    if own_rests and not attempts:
        return UnavailableReason.OWN_FAILED
    if not attempts and budget_retry is not None:
        return UnavailableReason.BUDGET_SPENT
    return UnavailableReason.EXHAUSTED

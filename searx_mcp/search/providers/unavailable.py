"""Explains why nothing could serve a search, so that a person can act on it.

For own instances there is a sentence for each cause, and what to change.
"""

from collections.abc import Collection, Mapping, Sequence
from http import HTTPStatus
from typing import Final

from searx_mcp.errors import NoInstancesError, SearxMcpError, UnavailableReason
from searx_mcp.models.attempt import Attempt, PastOutcome, Verdict
from searx_mcp.sources.attempts import SourceLog

_ADDRESS: Final = "SEARXNG_URL or instances.own"

_CAUSES: Final = {
    Verdict.ENGINES_FAILED: (
        "Your own SearXNG instance found nothing. {detail}",
        "Let its machine reach them, or turn on others in its settings.yml; `searx-mcp doctor` shows the lines.",
    ),
    Verdict.RATE_LIMITED: (
        "The limiter of your own SearXNG instance refuses this machine (429)",
        "Set server.limiter to false in its settings.yml; `searx-mcp doctor` shows the lines.",
    ),
    Verdict.BLOCKED: (
        "The limiter of your own SearXNG instance takes this machine for a bot",
        "Set server.limiter to false in its settings.yml; `searx-mcp doctor` shows the lines.",
    ),
    Verdict.CHALLENGE: (
        "A browser challenge blocks access to your own SearXNG instance",
        "Exempt this machine from it; see `searx-mcp doctor`.",
    ),
    Verdict.REFUSED: (
        "Your own SearXNG instance refused the search ({status})",
        "Let /search through in the web server in front of it; see `searx-mcp doctor`.",
    ),
    Verdict.SERVER_ERROR: (
        "Your own SearXNG instance failed ({status})",
        "Read its log and restart it; see `searx-mcp doctor`.",
    ),
    Verdict.FOREIGN_REDIRECT: (
        "Your own SearXNG instance has a different address. {detail}",
        f"Correct {_ADDRESS}; see `searx-mcp doctor`.",
    ),
    Verdict.NOT_SEARXNG: (
        "A different program answers at your own SearXNG instance's address",
        f"Correct {_ADDRESS}; see `searx-mcp doctor`.",
    ),
    Verdict.TLS: (
        "The certificate of your own SearXNG instance is not trusted",
        "Set network.ca_file to its authority; see `searx-mcp doctor`.",
    ),
    Verdict.MALFORMED: (
        "The answer of your own SearXNG instance cannot be read",
        "Update it, and see `searx-mcp doctor`.",
    ),
    Verdict.TIMEOUT: (
        "Your own SearXNG instance did not answer in time",
        "Restart it, or raise search.phase_timeout; see `searx-mcp doctor`.",
    ),
    Verdict.DNS: (
        "The name of your own SearXNG instance does not resolve",
        f"Correct {_ADDRESS}; see `searx-mcp doctor`.",
    ),
    Verdict.CONNECTION: (
        "Your own SearXNG instance does not answer. {detail}",
        f"Start it, or correct its address in {_ADDRESS}; see `searx-mcp doctor`.",
    ),
}
"""In the order in which they are explained: the closer a failure is to an answer, the easier the repair."""

_BY_STATUS: Final[Mapping[int, tuple[str, str]]] = {
    HTTPStatus.UNAUTHORIZED: (
        "Your own SearXNG instance rejects the credentials (401)",
        "Correct those in SEARXNG_URL or instances.credentials; see `searx-mcp doctor`.",
    ),
    HTTPStatus.NOT_FOUND: (
        "There is no SearXNG at the address of your own instance (404)",
        f"Correct the path in {_ADDRESS}; `searx-mcp doctor` looks for it.",
    ),
}


def own_cause(attempts: Sequence[Attempt]) -> tuple[str, str] | None:
    """Return the explanation and the advice for failed attempts at own instances; `None` if there is none."""
    for verdict in _CAUSES:
        for attempt in attempts:
            if attempt.verdict is verdict:
                message, advice = _texts(verdict, attempt.status_code)
                detail = attempt.detail.rstrip(".")
                said = message.format(detail=detail, status=attempt.status_code)
                return said.rstrip(". "), advice
    return None


def _texts(verdict: Verdict, status: int | None) -> tuple[str, str]:
    texts = _CAUSES.get(
        verdict, ("", "Fix it; `searx-mcp doctor` says how, and ends the cooldown.")
    )
    return _BY_STATUS.get(status or 0, texts) if verdict is Verdict.REFUSED else texts


def resting(cause: PastOutcome) -> tuple[str, str]:
    """Return the explanation and advice if no own instance was asked, as all are on a cooldown.

    Args:
        cause: why the next one to become available is waiting.
    """
    _, advice = _texts(cause.verdict, cause.status_code)
    return f"Your own SearXNG instance is in cooldown: {cause.detail}".rstrip("."), advice


def is_starting(attempts: tuple[Attempt, ...]) -> NoInstancesError:
    """Return the error while the local instance starts and no other source can serve.

    Args:
        attempts: the requests made for this search.
    """
    return NoInstancesError(
        "Your own SearXNG instance is starting",
        reason=UnavailableReason.OWN_DOWN,
        attempts=attempts,
        advice=f"Search again in {_UP_AGAIN:.0f} s; `searx-mcp instances own log` shows its start.",
        retry_after=_UP_AGAIN,
    )


def does_not_start(
    failure: SearxMcpError, error: NoInstancesError, *, retry_after: float
) -> NoInstancesError:
    """Return the error if the local instance ends while starting and no other source can serve.

    Args:
        failure: why it ends.
        error: the outcome of the search without it.
        retry_after: seconds until it is started again.
    """
    return NoInstancesError(
        f"Your own SearXNG instance does not start. {failure.message}".rstrip("."),
        reason=error.reason,
        attempts=error.attempts,
        advice=failure.advice,
        retry_after=retry_after,
    )


_OWN_INSTANCE = (
    "Your own instance has no limits: run `searx-mcp instances own up`, or set SEARXNG_URL."
)

SEEMS_OFFLINE: Final = ": this machine seems to be offline"
CHECK_NETWORK = "Check the connection, DNS and proxy of this machine, then search again."
_UP_AGAIN: Final = 5.0
"""Seconds; a start took 1.3 on a quiet machine, and 5 to 13 on a busy one."""
SOON = 30.0
"""Seconds. A dead network or a stopped own instance may be back any moment, whatever the timers say."""


_SEVERAL: Final = 2


def sources_unavailable(log: SourceLog, kind: str, advice: str) -> NoInstancesError:
    """Return the error if no source answered: because of budgets or limits, or because none was reached.

    Args:
        log: of the search.
        kind: of these sources, such as `open source`.
        advice: what to do if they are only spent or on a cooldown.
    """
    reasons = ", ".join(f"{name}: {reason}" for name, reason in log.skipped.items())
    attempts = tuple(log.attempts)
    message = f"No {kind} could answer ({reasons})"
    reason, retry_after = UnavailableReason.EXHAUSTED, min(log.waits, default=None)
    if not attempts and "budget" in log.skipped.values():
        reason = UnavailableReason.BUDGET_SPENT
    elif len(attempts) >= _SEVERAL and all(attempt.verdict.is_network for attempt in attempts):
        reason, retry_after = UnavailableReason.OFFLINE, SOON
        message = f"No {kind} could be reached ({reasons}){SEEMS_OFFLINE}"
        advice = CHECK_NETWORK
    return NoInstancesError(
        message, reason=reason, attempts=attempts, advice=advice, retry_after=retry_after
    )


def unavailable(
    *,
    own: Collection[str],
    has_public: bool,
    attempts: Sequence[Attempt],
    budget_retry: float | None,
    state_retry: float | None,
    own_rests: PastOutcome | None = None,
) -> NoInstancesError:
    """Return the error that fits the attempts.

    Args:
        own: base URLs of own instances.
        has_public: whether public instances may be asked.
        attempts: the requests made for this search.
        budget_retry: seconds until the first spent budget has room again, or `None`.
        state_retry: seconds until the first waiting instance may be asked again, or `None`.
        own_rests: why an own instance was not asked; `None` if none waits.
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
        cause = own_cause(at_own) or (resting(own_rests) if own_rests is not None else None)
        message, advice = cause or _TEXTS[UnavailableReason.EXHAUSTED]
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
        "Run `searx-mcp instances own up` (no Docker, no root), or set SEARXNG_URL to an instance.",
    ),
    UnavailableReason.OFFLINE: (
        f"No SearXNG instance could be reached{SEEMS_OFFLINE}",
        CHECK_NETWORK,
    ),
    UnavailableReason.BUDGET_SPENT: (
        "The budget for public SearXNG instances is used up for now",
        f"Wait, or read pages whose addresses you know. {_OWN_INSTANCE}",
    ),
    UnavailableReason.EXHAUSTED: (
        "All SearXNG instances are unavailable or rate limited",
        f"Try again later. {_OWN_INSTANCE}",
    ),
}


def _reason(
    *,
    has_own: bool,
    has_public: bool,
    attempts: Sequence[Attempt],
    at_own: Sequence[Attempt],
    own_rests: PastOutcome | None,
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

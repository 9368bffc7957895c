"""Why an own instance could not serve a search: a sentence for each cause, and what to change."""

from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Final

from searx_mcp.models.attempt import Attempt, Verdict

_ADDRESS: Final = "SEARXNG_URL or instances.own"

_CAUSES: Final = {
    Verdict.ENGINES_FAILED: (
        "Your own SearXNG instance found nothing. {detail}",
        "Switch on other engines in its settings.yml; `searx-mcp doctor` shows the lines.",
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
        "A challenge for browsers stands in front of your own SearXNG instance",
        "Let this machine pass what puts it there; see `searx-mcp doctor`.",
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
        "Your own SearXNG instance has another address. {detail}",
        f"Correct {_ADDRESS}; see `searx-mcp doctor`.",
    ),
    Verdict.NOT_SEARXNG: (
        "Another program answers at the address of your own SearXNG instance",
        f"Correct {_ADDRESS}; see `searx-mcp doctor`.",
    ),
    Verdict.TLS: (
        "The certificate of your own SearXNG instance is not accepted",
        "Name who issued it in network.ca_file; see `searx-mcp doctor`.",
    ),
    Verdict.MALFORMED: (
        "The answer of your own SearXNG instance cannot be read",
        "Update it, and see `searx-mcp doctor`.",
    ),
    Verdict.TIMEOUT: (
        "Your own SearXNG instance did not answer in time",
        "Restart it, or raise search.attempt_timeout; see `searx-mcp doctor`.",
    ),
    Verdict.DNS: (
        "The name of your own SearXNG instance does not resolve",
        f"Correct {_ADDRESS}; see `searx-mcp doctor`.",
    ),
    Verdict.CONNECTION: (
        "Your own SearXNG instance does not answer",
        f"Start it, or correct its address in {_ADDRESS}; see `searx-mcp doctor`.",
    ),
}
"""The one nearest to an answer first: of several instances, that one is the easiest to mend."""

_BY_STATUS: Final[Mapping[int, tuple[str, str]]] = {
    HTTPStatus.UNAUTHORIZED: (
        "Your own SearXNG instance wants other credentials (401)",
        "Correct those in SEARXNG_URL or instances.credentials; see `searx-mcp doctor`.",
    ),
    HTTPStatus.NOT_FOUND: (
        "There is no SearXNG at the address of your own instance (404)",
        f"Correct the path in {_ADDRESS}; `searx-mcp doctor` looks for it.",
    ),
}


def own_cause(attempts: Sequence[Attempt]) -> tuple[str, str] | None:
    """What to say and to advise, by the attempts at own instances; `None` if they tell nothing."""
    for verdict, texts in _CAUSES.items():
        for attempt in attempts:
            if attempt.verdict is verdict:
                message, advice = texts
                if verdict is Verdict.REFUSED:
                    message, advice = _BY_STATUS.get(attempt.status_code or 0, texts)
                detail = attempt.detail.rstrip(".")
                said = message.format(detail=detail, status=attempt.status_code)
                return said.rstrip(". "), advice
    return None


def resting(reason: str) -> tuple[str, str]:
    """What to say when no own instance was asked, since all of them rest.

    Args:
        reason: why the first of them that may be asked again does.
    """
    return (
        f"Your own SearXNG instance is left alone for a moment: {reason}".rstrip("."),
        "Mend it; `searx-mcp doctor` tells how, and ends the wait.",
    )

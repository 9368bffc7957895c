"""Who is to be asked next, and how."""

from dataclasses import dataclass

from searx_mcp.models.attempt import Format
from searx_mcp.pool.member import Member


@dataclass(frozen=True, slots=True)
class Proposal:
    """The instance to ask next, and how.

    Attributes:
        url: its base URL.
        own: whether it is an instance of the user's own.
        format: the format to ask for.
        is_unlimited: whether it is known to count no requests, so that it may be hedged.
        is_trial: whether it has rested and is tried again.
        is_doubted: whether it is own and its last request came to nothing.
        is_proven: whether it has ever answered a search.
        is_clear: whether its robots.txt was looked at lately.
        engines: the engines to name; none where the instance is to choose, or the caller has.
    """

    url: str
    own: bool
    format: Format
    is_unlimited: bool
    is_trial: bool
    is_doubted: bool
    is_proven: bool
    is_clear: bool
    engines: tuple[str, ...] = ()


def proposal(member: Member, now: float, *, engines: tuple[str, ...]) -> Proposal:
    """Propose a member as it stands now, and the engines to name there."""
    return Proposal(
        url=member.url,
        own=member.is_own,
        format=member.format(now),
        is_unlimited=member.is_unlimited,
        is_trial=member.is_on_trial(now),
        is_doubted=member.is_doubted(now),
        is_proven=member.successes > 0,
        is_clear=member.is_clear(now),
        engines=engines,
    )

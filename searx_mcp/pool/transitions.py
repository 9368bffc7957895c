"""How an outcome changes the record of an instance."""

from searx_mcp.models.attempt import Format, Verdict
from searx_mcp.models.instance import InstanceState
from searx_mcp.pool import timers
from searx_mcp.pool.member import Member
from searx_mcp.pool.proposal import Outcome
from searx_mcp.pool.record import OPTED_OUT, SLOW_START, InstanceRecord

DISAGREES = "Its results share nothing with those of your other instances."
GIVEN_UP = frozenset({InstanceState.QUARANTINED, InstanceState.BLACKLISTED})
FIRM = GIVEN_UP | {InstanceState.RATE_LIMITED}
"""States in which no request is sent, so an answer belongs to an earlier request: it disproves neither a
limit met since nor an operator's opt-out."""
RECENT = 5
"""Number of past outcomes to keep."""
_DEGRADED_AFTER = 3

OF_STATE = (
    "state", "until", "reason", "healthy_since", "consecutive_failures", "failing_episode",
    "limit_episode", "quarantine_episode", "limits", "recent", "without_engines", "empty",
    "degraded_at", "successes_in_a_row", "overtaken", "overtaken_at", "trust_violations",
    "disagreement_streak", "certificate_failures", "bans",
)  # fmt: skip
"""Fields of a record that hold the current state, not observations."""


def learn_formats(member: Member, outcome: Outcome, now: float) -> None:
    """Record which formats the instance serves, as far as an answer shows."""
    record, page = member.record, outcome.page
    if outcome.verdict is Verdict.JSON_OFF:
        record.json_enabled = False
        record.json_recheck = now + timers.JSON_RECHECK
    elif outcome.is_about_format(own=member.is_own):
        record.json_recheck = now + (outcome.retry_after or timers.JSON_WINDOW)
    elif outcome.format is Format.JSON and page is not None:
        if record.json_enabled is False:
            record.json_recheck = 0.0
        record.json_enabled = True
    elif page is not None and page.formats is not None and not member.is_own:
        record.json_listed = "json" in page.formats
        if not record.json_listed:
            record.json_enabled = False
    if page is not None and page.link_token is not None:
        record.link_token = page.link_token


def succeed(member: Member, verdict: Verdict, now: float) -> None:
    """Record a success; the state becomes healthy unless another reason keeps it."""
    record = member.record
    if record.state is InstanceState.HALF_OPEN:
        record.successes_in_a_row = 0
    record.consecutive_failures = record.without_engines = record.overtaken = 0
    record.certificate_failures = 0
    record.recent = (*record.recent, True)[-RECENT:]
    record.successes_in_a_row += 1
    if record.successes_in_a_row >= len(SLOW_START):
        record.failing_episode = record.limit_episode = 0
    record.empty = record.empty + 1 if verdict is Verdict.EMPTY else 0
    if record.empty >= _DEGRADED_AFTER and not member.is_trusted:
        degrade(record, "It finds nothing, although it reports no failed engine.", now)
    elif record.state is not InstanceState.DEGRADED or _is_disproved(record, verdict, now):
        recover(record, now)


def _is_disproved(record: InstanceRecord, verdict: Verdict, now: float) -> bool:
    """Return whether a good answer disproves the reason for which the instance is degraded."""
    is_over = record.reason != DISAGREES or now - record.degraded_at >= timers.SETTLED
    return verdict is Verdict.FULL and is_over


def recover(record: InstanceRecord, now: float) -> None:
    """Make the instance healthy."""
    if record.state is not InstanceState.HEALTHY:
        record.healthy_since = now
    record.state = InstanceState.HEALTHY
    record.until = 0.0
    record.reason = ""


def degrade(record: InstanceRecord, reason: str, now: float) -> None:
    """Make the instance degraded, unless its state is more severe."""
    if record.state in FIRM:
        return
    record.state = InstanceState.DEGRADED
    record.until = 0.0
    record.degraded_at = now
    record.reason = reason


def miss_engines(record: InstanceRecord, outcome: Outcome, now: float) -> None:
    """Count an answer without results whose engines failed."""
    record.without_engines += 1
    engines = len(outcome.page.unresponsive_engines) if outcome.page else 0
    if record.without_engines >= _DEGRADED_AFTER and engines >= 2:  # noqa: PLR2004 - one engine may just be slow
        degrade(record, "Its search engines do not answer it.", now)
    elif record.state is InstanceState.HALF_OPEN and record.healthy_since:
        recover(record, now)
    elif record.state is InstanceState.HALF_OPEN:
        record.state = InstanceState.NEW


def opt_out(record: InstanceRecord, now: float) -> None:
    """Leave the instance alone, as its robots.txt asks."""
    if record.state is not InstanceState.BLACKLISTED:
        record.state = InstanceState.QUARANTINED
        record.until = max(record.until, now + timers.OPT_OUT)
        record.reason = OPTED_OUT

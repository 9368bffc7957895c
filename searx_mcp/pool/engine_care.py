"""Chooses which engines of an own instance a search uses, to spare those that refuse it.

SearXNG asks every engine of a category for every search. The sites behind them count requests per address,
so an agent's searches quickly get the best engines suspended, and again as soon as their suspension ends.
While all engines of a category work, none is named and SearXNG chooses. After a refusal, each search uses
three healthy engines that return results, in turn: those that have rested longest, relative to the gap they
need. A refusal doubles the gap, an answer shortens it. While all refuse, one at a time is tried, with
growing pauses. An engine that was too slow is left out for a while, so that it does not delay every search.
`docs/decisions/pool.md` has the figures.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from enum import Enum, auto
from itertools import chain
from typing import Final

from pydantic import BaseModel, ConfigDict

from searx_mcp.models.hits import ResultPage
from searx_mcp.models.instance import EngineReport, EngineState
from searx_mcp.models.request import TimeRange
from searx_mcp.pool.proposal import InstanceQuery
from searx_mcp.pool.timers import DAY, HOUR

LEAST: Final = 3
"""Engines that carry a search: if one finds little, two are left."""
THIN: Final = 8
"""With fewer results, the other healthy engines are asked for the same search, too."""

_CARRIES: Final = 3.0
"""Mean results of an answer from which an engine carries a search. Others, such as encyclopedias, are not
general search engines: they are always included, as nothing else brings their results."""
_REST: Final = 300.0
"""Seconds to rest after a failure. Of 300, 450, 600 and 900 s, the shortest had the fewest refusals in the
simulation, although its engines count over ten minutes: meanwhile the others carry the load."""
_LONGEST_REST: Final = 900.0
"""Seconds between two tries of one engine each while all refuse: four requests an hour, where the simulated
engines refuse above 36, and a machine that has moved to another network searches again within that time."""
_SUSPENDED: Final = 120.0
"""Seconds until an engine that SearXNG still suspends is tried again; such a try does not reach the site."""
_FIRST_GAP: Final = 30.0
_LONGEST_GAP: Final = HOUR
_LEAST_GAP: Final = 3.0
"""Minimum gap in seconds, for an engine never refused: it is asked ten times as often as one that just was."""
_SHORTENS: Final = 0.985
"""Factor by which each answer shortens the gap: 46 answers halve it, as a refusal doubles it."""
_LONGEST_SPELL: Final = DAY
_LONGEST_ANSWER: Final = 120.0
"""Maximum seconds between a search and its answer; a call may take so long."""
_MAX_ENGINES: Final = 100
"""Engines of one instance that are remembered; SearXNG's defaults enable about 90."""
_MAX_NAMED: Final = 40
"""Engines named in a search besides those that carry it: addresses have a maximum length."""

_SUSPENSION: Final = "suspended"


class Trouble(Enum):
    """Remedies for a failing engine."""

    REFUSES = auto()
    """The site behind it refuses the instance: use another engine."""
    SLOW = auto()
    """It may answer if it is given more time."""
    UNREACHED = auto()
    """The instance cannot reach the site: check its network."""
    OTHER = auto()
    """Usually the site has changed and SearXNG has not followed yet: updating SearXNG may help."""


_REASONS: Final = (
    ("captcha", "CAPTCHA", Trouble.REFUSES),
    ("too many requests", "too many requests", Trouble.REFUSES),
    ("toomanyrequests", "too many requests", Trouble.REFUSES),
    ("access denied", "access denied", Trouble.REFUSES),
    ("accessdenied", "access denied", Trouble.REFUSES),
    ("timeout", "timeout", Trouble.SLOW),
    ("timed out", "timeout", Trouble.SLOW),
    ("connecterror", "no connection", Trouble.UNREACHED),
    ("connection error", "no connection", Trouble.UNREACHED),
    ("network error", "no connection", Trouble.UNREACHED),
    ("proxyerror", "no connection", Trouble.UNREACHED),
    ("proxy error", "no connection", Trouble.UNREACHED),
)
"""SearXNG's English messages and exceptions, in lower case; a name for people; the remedy."""


def trouble_of(text: str) -> tuple[str, Trouble]:
    """Classify an instance's reason for a failed engine.

    Args:
        text: a reason for people, or the name and message of an exception. Contains text from sites.

    Returns:
        Our own words, empty if unknown, and the remedy.
    """
    text = text.casefold()
    for word, reason, trouble in _REASONS:
        if word in text:
            return reason, trouble
    return "", Trouble.OTHER


class EngineRecord(BaseModel):
    """What was learned of one engine of one instance, as it is stored.

    Attributes:
        searches: the kinds of searches it takes part in, see `kind_of`.
        answered, refused, failed: counts; a continuing suspension is not counted.
        results: rows it found, alone or with others.
        reason: of its last failure; empty if it answered.
        asked_at: Unix seconds of the last search it was named in or took part in.
        refused_at: of its last refusal.
        refused_since: of the first refusal since its last answer; 0 if it does not refuse.
        until: end of its rest.
        gap: learned minimum of seconds between two of its searches.
        spell: seconds after a refusal for which searches are spread.
    """

    # Stored for a long time: ignore fields of newer versions.
    model_config = ConfigDict(frozen=True, extra="ignore", allow_inf_nan=False)

    name: str
    searches: tuple[str, ...] = ()
    answered: int = 0
    refused: int = 0
    failed: int = 0
    results: int = 0
    reason: str = ""
    asked_at: float = 0.0
    refused_at: float = 0.0
    refused_since: float = 0.0
    until: float = 0.0
    gap: float = 0.0
    spell: float = 0.0

    def is_healthy(self, now: float) -> bool:
        """Whether it may be asked."""
        return now >= self.until

    def is_spared(self, now: float) -> bool:
        """Whether it was refused so recently that searches are spread."""
        return now < self.refused_at + self.spell

    @property
    def refuses(self) -> bool:
        """Whether its site refused the last request."""
        return trouble_of(self.reason)[1] is Trouble.REFUSES

    def is_slow(self, now: float) -> bool:
        """Whether it timed out so recently that searches leave it out.

        A suspended engine delays no search.
        """
        is_asked = not self.reason.casefold().startswith(_SUSPENSION)
        return is_asked and not self.is_healthy(now) and trouble_of(self.reason)[1] is Trouble.SLOW

    @property
    def carries(self) -> bool:
        """Whether its results carry a search; assumed of one that never answered."""
        return self.results >= _CARRIES * self.answered

    def rested(self, now: float) -> float:
        """Return the time since it was last asked, in units of its gap."""
        return (now - self.asked_at) / max(self.gap, _LEAST_GAP)

    def after_answer(self, results: int, now: float) -> "EngineRecord":
        """Return the record after an answer with this many results."""
        return self.model_copy(
            update={
                "answered": self.answered + 1,
                "results": self.results + results,
                "reason": "",
                "until": 0.0,
                "refused_since": 0.0,
                "gap": self.gap * _SHORTENS,
                "asked_at": self._asked_at(now),
            }
        )

    def after_failure(self, reason: str, now: float) -> "EngineRecord":
        """Return the record after an answer without it."""
        is_refusal = trouble_of(reason)[1] is Trouble.REFUSES
        if reason.casefold().startswith(_SUSPENSION):
            changes: dict[str, object] = {"until": max(self.until, now + _SUSPENDED)}
            if is_refusal and not self.spell:  # another client of the instance was refused
                changes |= {"refused_at": now, "spell": HOUR}
        elif is_refusal:
            recent = now < self.refused_at + 2 * self.spell
            changes = {
                "refused": self.refused + 1,
                "refused_at": now,
                "until": now + _REST,
                "gap": min(max(2 * self.gap, _FIRST_GAP), _LONGEST_GAP),
                "spell": min(2 * self.spell, _LONGEST_SPELL) if recent else HOUR,
            }
        else:
            changes = {"failed": self.failed + 1, "until": now + _REST}
        since = (self.refused_since if self.refuses else now) if is_refusal else 0.0
        changes |= {"reason": reason, "asked_at": self._asked_at(now), "refused_since": since}
        return self.model_copy(update=changes)

    def _asked_at(self, now: float) -> float:
        """Return when it was asked for the answer that arrived now; known only of engines we named."""
        return now if now - self.asked_at > _LONGEST_ANSWER else self.asked_at

    def moved(self, ahead: float, latest: float) -> "EngineRecord":
        """Return the record with its times `ahead` seconds earlier, none of the past after `latest`."""
        return self.model_copy(
            update={
                "asked_at": min(self.asked_at - ahead, latest),
                "refused_at": min(self.refused_at - ahead, latest),
                "refused_since": min(self.refused_since - ahead, latest),
                "until": min(self.until - ahead, latest + _REST),
            }
        )


def choose(
    engines: Sequence[EngineRecord], query: InstanceQuery, now: float
) -> tuple[str, ...] | None:
    """Return the engines to name in a search: none to let the instance choose, `None` not to ask it."""
    kind = kind_of(query)
    taking = [each for each in engines if kind in each.searches]
    if not any(each.reason or each.is_spared(now) for each in taking):
        return ()  # all work
    healthy = [each for each in taking if each.is_healthy(now)]
    further = [each.name for each in healthy if not each.carries][:_MAX_NAMED]
    if refusing := _refusing(engines, query):
        is_due = now >= next_try(engines, query)
        tried = [min(refusing, key=lambda each: each.asked_at).name] if is_due else []
        return (*tried, *further) or None
    is_spared = any(each.is_spared(now) for each in taking)
    if not is_spared and not any(each.is_slow(now) for each in taking):
        return ()
    carrying = [each for each in healthy if each.carries]
    if not carrying and not is_spared:
        return ()
    # If all others rest, ask those that no site refuses.
    carrying = carrying or [each for each in taking if each.carries and not each.refuses]
    carrying.sort(key=lambda each: each.rested(now), reverse=True)
    most = LEAST if is_spared else _MAX_NAMED
    return (*(each.name for each in carrying[:most]), *further)


def next_try(engines: Sequence[EngineRecord], query: InstanceQuery) -> float:
    """Return the Unix seconds from which one engine is tried while all refuse; 0 unless they do.

    A pause is as long as the time from the first refusal to the last try, so that this time doubles with
    each try.
    """
    refusing = _refusing(engines, query)
    if not refusing:
        return 0.0
    latest = max(each.asked_at for each in refusing)
    refused_for = latest - max(each.refused_since for each in refusing)
    return latest + min(max(_REST, refused_for), _LONGEST_REST)


def reasons(engines: Sequence[EngineRecord], query: InstanceQuery) -> str:
    """Return why they refuse, in our words."""
    found = (trouble_of(each.reason)[0] for each in _refusing(engines, query))
    return ", ".join(dict.fromkeys(found))


def _refusing(engines: Sequence[EngineRecord], query: InstanceQuery) -> list[EngineRecord]:
    """Return the engines that carry such a search if all of them refuse; else none."""
    kind = kind_of(query)
    carrying = [each for each in engines if kind in each.searches and each.carries]
    return carrying if all(each.refuses for each in carrying) else []


def others(
    engines: Sequence[EngineRecord], query: InstanceQuery, named: Collection[str], now: float
) -> tuple[str, ...]:
    """Return the healthy engines that were not `named` in a search; none while all refuse."""
    if _refusing(engines, query):
        return ()
    kind = kind_of(query)
    rest = [each for each in engines if kind in each.searches and each.name not in named]
    return tuple(each.name for each in rest if each.is_healthy(now))[:_MAX_NAMED]


def asked(
    engines: Sequence[EngineRecord], names: Sequence[str], now: float
) -> tuple[EngineRecord, ...]:
    """Record which engines are asked, so that a concurrent search uses others."""
    # Slightly different times, so that the engines of one search do not stay together.
    at = {name: now + place / 1_000 for place, name in enumerate(names)}
    return tuple(
        each.model_copy(update={"asked_at": at[each.name]}) if each.name in at else each
        for each in engines
    )


def learned(
    engines: Sequence[EngineRecord], query: InstanceQuery, page: ResultPage, now: float
) -> tuple[EngineRecord, ...]:
    """Update the records from an answer.

    Args:
        engines: the records so far.
        query: what was asked, with the named engines.
        page: the answer.
        now: Unix seconds.
    """
    failed = {each.engine: each.reason for each in page.unresponsive_engines}
    found = Counter(chain.from_iterable(hit.engines for hit in page.hits))
    found.update(box.engine for box in page.infoboxes if box.engine)
    answering = dict.fromkeys([*failed, *page.timings, *found])
    known = {each.name: each for each in engines}
    for name in answering:
        engine = known.get(name) or EngineRecord(name=name)
        known[name] = (
            engine.after_failure(failed[name], now)
            if name in failed
            else engine.after_answer(found[name], now)
        )
    _sort_in(known, query, answering, is_complete=bool(page.timings))
    latest = sorted(known.values(), key=lambda each: -each.asked_at)[:_MAX_ENGINES]
    return tuple(sorted(latest, key=lambda each: each.name))


def revived(engines: tuple[EngineRecord, ...]) -> tuple[EngineRecord, ...]:
    """Return the records to keep after a change by the operator: none if all refused, to find new ones."""
    return () if all(each.refuses for each in engines if each.carries) else engines


def is_thin(page: ResultPage) -> bool:
    """Return whether the named engines found so little that asking the others is worth a request."""
    return len(page.hits) < THIN and not page.answers


def kind_of(query: InstanceQuery) -> str:
    """Return the key of searches that the same engines serve: category, and whether dates are supported."""
    return f"{query.category} by time" if query.time_range is not TimeRange.ANY else query.category


def _sort_in(
    known: dict[str, EngineRecord],
    query: InstanceQuery,
    asked: Collection[str],
    *,
    is_complete: bool,
) -> None:
    """Record which engines take part in such searches; one that carried them and is missing no longer does.

    A converter or dictionary takes part only in matching queries, and stays.
    """
    kind = kind_of(query)
    if not query.engines and query.page == 1:
        for name in asked:
            if kind not in known[name].searches:
                searches = (*known[name].searches, kind)
                known[name] = known[name].model_copy(update={"searches": searches})
    if not is_complete or query.page > 1:
        return
    for engine in tuple(known.values()):
        expected = not query.engines or engine.name in query.engines
        is_gone = kind in engine.searches and engine.name not in asked
        if expected and is_gone and engine.carries:
            searches = tuple(each for each in engine.searches if each != kind)
            known[engine.name] = engine.model_copy(update={"searches": searches})


def engine_reports(engines: Iterable[EngineRecord], now: float) -> tuple[EngineReport, ...]:
    """Return reports on each engine, those with most results first."""
    rows = (
        EngineReport(
            name=each.name,
            state=_state(each, now),
            reason=each.reason,
            retry_after=round(max(0.0, each.until - now), 1),
            spared=each.is_spared(now),
            answered=each.answered,
            refused=each.refused,
            failed=each.failed,
            results=each.results,
        )
        for each in engines
    )
    return tuple(sorted(rows, key=lambda row: (-row.results, row.name)))


def _state(engine: EngineRecord, now: float) -> EngineState:
    if not engine.reason:
        return EngineState.WELL
    if engine.is_spared(now):
        return EngineState.REFUSED
    return EngineState.FAILING

"""The open sources as a provider: chosen by the query, asked concurrently, filtered by relevance."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Final

from searx_mcp.errors import NoInstancesError, UnavailableReason
from searx_mcp.models.attempt import Attempt, Verdict
from searx_mcp.models.hits import Hit, ResultPage, UnresponsiveEngine
from searx_mcp.models.request import Category
from searx_mcp.models.response import Coverage
from searx_mcp.pool.proposal import InstanceQuery
from searx_mcp.search.merge import K, join, row_key
from searx_mcp.search.providers.concurrent_queries import ConcurrentQueries, EngineReply
from searx_mcp.search.providers.context import OPEN_SOURCES, Found, SearchContext
from searx_mcp.search.providers.unavailable import sources_unavailable
from searx_mcp.sources.attempts import SourceLog
from searx_mcp.sources.open.analyze_query import analyze_query
from searx_mcp.sources.open.engine import Engine, OpenQuery, one_line
from searx_mcp.sources.open.question import Question
from searx_mcp.sources.open.relevance import relevant
from searx_mcp.sources.open.route import EngineChoice, Route, route
from searx_mcp.sources.open.table import identity, voter

Gate = Callable[[Sequence[Hit], Question, Engine], tuple[Hit, ...]]

MAX_ROUNDS: Final = 3
"""Maximum pages requested of an engine: its budget is for a day."""
PAGE: Final = 10
"""After this many hits no further page is requested, however few are relevant: later ones are less so."""
LONGEST_TEXT: Final = 6
"""Words of a question that is sent unchanged. Most engines require every word, and few pages also contain the
`how`, `do` and `I` of a long question; a short one may be the name of something, such as `The Who`."""
_SEVERAL: Final = 2
_MEDIA: Final = frozenset({Category.IMAGES, Category.VIDEOS})
_ADVICE: Final = "Other words may match other collections; your own instance would search the web."
ANY_LANGUAGE: Final = frozenset({"all", "auto", "en"})
"""Most collections are mainly English, so this needs no note."""

HEAD: Final = 8
MOST_IN_HEAD: Final = 3
"""Of the first `HEAD` hits, at most this many are from one collection, if others have some left."""


@dataclass(frozen=True, slots=True)
class RankedList:
    """A ranked list and its weight.

    Attributes:
        hits: best first.
        weight: of its votes; 1 for an instance, whose engines vote one by one.
    """

    hits: Sequence[Hit]
    weight: float = 1.0


def fuse(lists: Sequence[RankedList]) -> tuple[Hit, ...]:
    """Fuse ranked lists.

    A hit's score is the sum of weight / (60 + rank) over the collections that found it, by the best place of
    each in any list: Wikipedia asked directly and Wikipedia inside an instance are one voter. A row of an
    instance that names no engine is the instance's vote. Ties go to the earlier list.

    Hits are the same if they share an identifier, such as a DOI, or the address.

    Args:
        lists: best lists first.

    Returns:
        Hits with all their engines, numbered.
    """
    rows: list[Hit] = []
    votes: list[dict[str, float]] = []
    places: dict[str, int] = {}
    for number, ranked in enumerate(lists):
        for rank, hit in enumerate(ranked.hits, start=1):
            keys = [key for key in (identity(hit), row_key(hit)) if key]
            at = next((places[key] for key in keys if key in places), len(rows))
            if at == len(rows):
                rows.append(hit)
                votes.append({})
            else:
                rows[at] = join(rows[at], hit)
            places |= dict.fromkeys(keys, at)
            worth = ranked.weight / (K + rank)
            for name in {voter(engine) for engine in hit.engines} or {f"instance {number}"}:
                votes[at][name] = max(worth, votes[at].get(name, 0.0))
    order = sorted(range(len(rows)), key=lambda at: -sum(votes[at].values()))
    return _numbered(rows[at] for at in order)


def diversify(hits: Sequence[Hit]) -> tuple[Hit, ...]:
    """Limit each collection's hits at the head of a list while others have hits below it.

    Args:
        hits: best first.

    Returns:
        The same hits, renumbered; surplus ones move below the head.
    """
    head: list[Hit] = []
    rest: list[Hit] = []
    taken: dict[str, int] = {}
    for hit in hits:
        names = {voter(engine) for engine in hit.engines}
        is_too_much = bool(names) and all(taken.get(name, 0) >= MOST_IN_HEAD for name in names)
        if len(head) == HEAD or is_too_much:
            rest.append(hit)
            continue
        head.append(hit)
        for name in names:
            taken[name] = taken.get(name, 0) + 1
    return _numbered([*head, *rest])


def _numbered(hits: Iterable[Hit]) -> tuple[Hit, ...]:
    return tuple(hit._replace(position=place) for place, hit in enumerate(hits, start=1))


@dataclass(frozen=True, slots=True)
class Collected:
    """The answer of the open sources to a query.

    Attributes:
        lists: relevant hits, a list for each answer, the best engines first.
        found: the same as a separate answer.
    """

    lists: tuple[RankedList, ...]
    found: Found


class OpenSources:
    """Answers from documented APIs of open collections; a `Provider`.

    The query determines which are asked: at most five engines for a search of everything, concurrently.
    Irrelevant hits are dropped, equal hits are merged, and an engine that did not answer is reported with its
    reason.

    Args:
        engines: the enabled rows, by name.
        rounds: makes the requests.
        contact: sent to engines whose operators want it.
        phase: maximum seconds of all of it.
        clock: Unix seconds.
        blocked: returns the hosts that are not asked at the moment.
        gate: keeps the relevant hits of an engine.
    """

    def __init__(
        self,
        engines: Mapping[str, Engine],
        rounds: ConcurrentQueries,
        *,
        contact: str,
        phase: float,
        clock: Callable[[], float],
        blocked: Callable[[], Collection[str]] = tuple,
        gate: Gate = relevant,
    ) -> None:
        self._blocked = blocked
        self._gate = gate
        self._engines = engines
        self._rounds = rounds
        self._contact = contact
        self._phase = phase
        self._clock = clock

    def fits(self, query: InstanceQuery) -> bool:
        """Return whether there is an engine to ask."""
        return bool(self._route(analyze_query(query.text), query).choices)

    def can_answer(self, query: InstanceQuery) -> bool:
        """Return whether one of those may be asked now, not considering its budget."""
        chosen = self._route(analyze_query(query.text), query).choices
        return any(self._rounds.may_ask(self._engines[each.engine]) for each in chosen)

    async def run(self, context: SearchContext) -> Found:
        """Answer a query from the collections that fit it; no relevant hits is an answer too.

        Raises:
            NoInstancesError: no engine fits, may be asked, or has answered.
        """
        return (await self.collect(context)).found

    async def collect(self, context: SearchContext) -> Collected:
        """Answer a query, with separate lists, so that they can be fused with others.

        Raises:
            NoInstancesError: as for `run`.
        """
        question = analyze_query(context.query.text)
        chosen = self._route(question, context.query)
        if not chosen.choices or chosen.category is None:
            raise NoInstancesError(
                f"No open source suits this search: {chosen.why}",
                reason=UnavailableReason.EXHAUSTED,
                advice="Search another category, or through an instance.",
            )
        asking = _Asking(
            question, chosen, chosen.category, context.query, context.wanted, self._contact
        )
        context = context.within(self._phase)
        log = SourceLog(context.deadline, context.progress)
        replies = await self._ask(asking, log)
        if not replies:
            raise sources_unavailable(log, "open source", _ADVICE)
        return self._collected(asking, replies, log)

    def _route(self, question: Question, query: InstanceQuery) -> Route:
        return route(
            question,
            category=query.category,
            language=query.language,
            time_range=query.time_range,
            engines=self._allowed(),
            wanted=query.engines,
        )

    def _allowed(self) -> dict[str, Engine]:
        blocked = self._blocked()
        return {
            name: engine for name, engine in self._engines.items() if engine.host not in blocked
        }

    async def _ask(self, asking: "_Asking", log: SourceLog) -> list[EngineReply]:
        """Return the replies of all rounds: first pages, and further ones while there are too few hits."""
        gathered: list[EngineReply] = []
        choices: Sequence[EngineChoice] = asking.route.choices
        if asking.query.page > 1:
            single = [each.engine for each in choices if not self._engines[each.engine].pages]
            log.skipped.update(dict.fromkeys(single, "has one page"))
            choices = [each for each in choices if each.engine not in single]
        rounds = min(MAX_ROUNDS, -(-asking.wanted // PAGE))
        for page in range(asking.query.page, asking.query.page + rounds):
            now = datetime.fromtimestamp(self._clock(), UTC)
            asked = [
                (choice, engine, asking.of(choice, engine, page=page, now=now))
                for choice in choices
                for engine in [self._engines[choice.engine]]
            ]
            skipped = dict(log.skipped)
            earlier = len(gathered)
            gathered += await self._rounds.ask(
                asked,
                log,
                keep=partial(self._keep, asking.question),
                is_enough=partial(self._is_enough, asking, tuple(gathered)),
            )
            if page > asking.query.page:
                log.skipped = skipped  # an engine that has answered once is not missing
            fresh = gathered[earlier:]
            choices = [
                reply.choice
                for reply in fresh
                if reply.page.has_next
                and 2 * len(reply.relevant) >= len(reply.page.hits)
                and self._engines[reply.choice.engine].pages
            ]
            if not choices or len(fuse(self._lists(gathered))) >= asking.wanted:
                break
        return gathered

    def _keep(self, question: Question, choice: EngineChoice, page: ResultPage) -> tuple[Hit, ...]:
        return self._gate(page.hits, question, self._engines[choice.engine])

    def _is_enough(
        self, asking: "_Asking", earlier: Sequence[EngineReply], fresh: Sequence[EngineReply]
    ) -> bool:
        """Return whether two engines, or the only one, have brought as many relevant hits as wanted."""
        replies = [*earlier, *fresh]
        several = min(_SEVERAL, len(asking.route.choices))
        with_hits = {reply.choice.engine for reply in replies if reply.relevant}
        return len(with_hits) >= several and len(fuse(self._lists(replies))) >= asking.wanted

    def _lists(self, replies: Sequence[EngineReply]) -> list[RankedList]:
        """Return a list for each engine, its pages concatenated."""
        hits: dict[EngineChoice, list[Hit]] = {}
        for reply in replies:
            hits.setdefault(reply.choice, []).extend(reply.relevant)
        return [
            RankedList(rows, self._engines[choice.engine].weight * choice.factor)
            for choice, rows in hits.items()
        ]

    def _collected(
        self, asking: "_Asking", replies: Sequence[EngineReply], log: SourceLog
    ) -> Collected:
        lists = self._lists(replies)
        hits = fuse(lists)
        if asking.category is Category.GENERAL:
            hits = diversify(hits)
        found_some = {reply.choice.engine for reply in replies if reply.relevant}
        in_vain = {
            reply.choice.engine: "nothing relevant"
            for reply in replies
            if reply.page.hits and reply.choice.engine not in found_some
        }
        missing = log.skipped | in_vain
        attempts = [
            attempt.model_copy(update={"verdict": Verdict.IRRELEVANT})
            if attempt.source in in_vain and attempt.verdict.ends_search
            else attempt
            for attempt in log.attempts
        ]
        page = ResultPage(
            hits=hits,
            rows_seen=sum(reply.page.rows_seen for reply in replies),
            has_next=any(reply.page.has_next for reply in replies),
            unresponsive_engines=tuple(
                UnresponsiveEngine(engine=name, reason=reason) for name, reason in missing.items()
            ),
        )
        used = [
            self._engines[name]
            for name in dict.fromkeys(engine for hit in hits for engine in hit.engines)
            if name in self._engines
        ]
        found = Found(
            pages=(page,),
            instance=OPEN_SOURCES,
            attempts=tuple(attempts),
            # There are more on further pages, which cost a day's budget.
            complete=True,
            coverage=_coverage(used),
            attribution=tuple(dict.fromkeys(each.licence for each in used if each.licence)),
            remarks=source_notes(
                asking.query, asking.route, asked=self._asked(attempts), used=used
            ),
        )
        return Collected(tuple(lists), found)

    def _asked(self, attempts: Sequence[Attempt]) -> list[Engine]:
        names = dict.fromkeys(attempt.source for attempt in attempts)
        return [self._engines[name] for name in names]


@dataclass(frozen=True, slots=True)
class _Asking:
    """One search in progress: the analysed query and the engines chosen for it."""

    question: Question
    route: Route
    category: Category
    query: InstanceQuery
    wanted: int
    contact: str

    def of(self, choice: EngineChoice, engine: Engine, *, page: int, now: datetime) -> OpenQuery:
        """Build the query for one engine."""
        question = self.question
        text = question.text
        if len(text.split()) > LONGEST_TEXT and not engine.is_semantic:
            text = one_line(question.keywords if engine.demands_all else question.words)
        return OpenQuery(
            text=text,
            keywords=question.keywords,
            now=now,
            category=self.category,
            language=self.query.language,
            safe_search=self.query.safe_search,
            time_range=self.query.time_range,
            page=page,
            aim=choice.aim,
            identifier=question.identifier,
            contact=self.contact,
        )


def _coverage(used: Sequence[Engine]) -> Coverage:
    if not any(engine.is_web_index for engine in used):
        return Coverage.COLLECTIONS
    return Coverage.WEB if all(engine.is_web_index for engine in used) else Coverage.MIXED


def source_notes(
    query: InstanceQuery, chosen: Route, *, asked: Sequence[Engine], used: Sequence[Engine]
) -> tuple[str, ...]:
    """Return notes on which engines were asked, and which filters could not be applied.

    Args:
        query: the query.
        chosen: the engines chosen for it.
        asked: the engines that were asked.
        used: those of them that returned hits.
    """
    said = [f"Open sources asked: {_names(asked)} ({chosen.why})."] if asked else []
    age = query.time_range
    if age and (deaf := [engine for engine in used if age not in engine.time_ranges]):
        said.append(f"Not limited to the last {age}, which they cannot filter by: {_names(deaf)}.")
    if query.safe_search and chosen.category in _MEDIA:
        unfiltered = [engine for engine in used if not engine.filters_safely]
        if unfiltered:
            said.append(f"Not filtered for explicit results: {_names(unfiltered)}.")
    language = query.language.partition("-")[0]
    if language not in ANY_LANGUAGE:
        mixed = [engine for engine in used if not engine.filters_language]
        if mixed:
            said.append(f"Results in any language: {_names(mixed)}.")
    return tuple(said)


def _names(engines: Iterable[Engine]) -> str:
    return ", ".join(engine.title for engine in engines)

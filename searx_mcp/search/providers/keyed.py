"""Keyed providers: search APIs with the user's keys, asked one after the other until one answers."""

import asyncio
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Final

from searx_mcp.content.values import loads
from searx_mcp.errors import InvalidArgumentError, NoInstancesError, UnavailableReason
from searx_mcp.models.hits import ResultPage, UnresponsiveEngine
from searx_mcp.models.progress import Progress
from searx_mcp.models.request import MAX_RESULTS, Category
from searx_mcp.pool.proposal import InstanceQuery
from searx_mcp.search.providers.concurrent_queries import ConcurrentQueries
from searx_mcp.search.providers.context import NO_KEY, Found, SearchContext
from searx_mcp.search.providers.unavailable import sources_unavailable
from searx_mcp.sources.attempts import SourceLog
from searx_mcp.sources.open.answers import Answered
from searx_mcp.sources.open.engine import Engine, OpenQuery
from searx_mcp.sources.open.question import secret_in
from searx_mcp.sources.open.table import KEYED, voter

PROVIDERS: Final = tuple(engine.name for engine in KEYED)
"""The names of all keyed providers."""
_ADVICE: Final = "`searx-mcp doctor` shows keys and budgets; providers.NAME.per_month raises one."
_ANY_LANGUAGE: Final = frozenset({"all", "auto"})


class KeyedSearch:
    """Answers from search APIs with the user's keys; a `Provider`.

    The first provider that answers wins, even without results. Its next page is requested while results are
    missing, and each costs a request.

    Args:
        engines: the rows that have a key, by name, in order of use.
        rounds: makes the requests.
        phase: maximum seconds of all of it.
        clock: Unix seconds.
        blocked: returns the hosts that are not asked at the moment.
    """

    def __init__(
        self,
        engines: Mapping[str, Engine],
        rounds: ConcurrentQueries,
        *,
        phase: float,
        clock: Callable[[], float],
        blocked: Callable[[], Collection[str]] = tuple,
    ) -> None:
        self._engines = engines
        self._rounds = rounds
        self._phase = phase
        self._clock = clock
        self._blocked = blocked

    def fits(self, query: InstanceQuery) -> bool:
        """Return whether one of them supports such a search."""
        return any(self._fitting(query))

    def can_answer(self, query: InstanceQuery) -> bool:
        """Return whether one of those may be asked now, not considering its budget."""
        return any(map(self._rounds.may_ask, self._fitting(query)))

    async def run(self, context: SearchContext) -> Found:
        """Answer a search; see `Provider`."""
        query = context.query
        context = context.within(self._phase)
        log = SourceLog(context.deadline, context.progress)
        fitting = [*self._fitting(query)]
        for place, engine in enumerate(fitting, 1):
            is_last = not any(map(self._rounds.may_ask, fitting[place:]))
            answers = await self._answers(engine, query, context.wanted, log, is_last=is_last)
            if answers:
                return _found(engine, answers, query, log)
        if not fitting:
            raise _unfit("none can search for that")
        raise sources_unavailable(log, "keyed provider", _ADVICE)

    async def raw(
        self,
        name: str,
        query: InstanceQuery,
        *,
        wanted: int,
        deadline: float,
        progress: Progress | None = None,
    ) -> object:
        """Return a provider's JSON unchanged.

        Args:
            name: of the provider.
            query: the query.
            wanted: results; each page of them costs a request.
            deadline: loop time by which to return.
            progress: called with each step.

        Returns:
            The value of one page, or a list of the pages' if more than one was requested.

        Raises:
            InvalidArgumentError: it has no key.
            NoInstancesError: it is blocked, may not be asked now, or did not answer.
        """
        engine = self._engines.get(name)
        if engine is None:
            raise InvalidArgumentError("provider", f"{name} has no key", advice=NO_KEY)
        if engine.host in self._blocked():
            raise _unfit(f"{name} is blocked")
        log = SourceLog(deadline, progress)
        answers = await self._answers(engine, query, wanted, log, is_last=True)
        if not answers:
            raise sources_unavailable(log, "keyed provider", _ADVICE)
        pages = [await asyncio.to_thread(loads, answered.body) for answered in answers]
        return pages[0] if len(pages) == 1 else pages

    def _fitting(self, query: InstanceQuery) -> Iterator[Engine]:
        named = {voter(name) for name in query.engines}
        blocked = self._blocked()
        for engine in self._engines.values():
            is_meant = not named or engine.name in named
            if is_meant and query.category in engine.categories and engine.host not in blocked:
                yield engine

    async def _answers(
        self,
        engine: Engine,
        query: InstanceQuery,
        wanted: int,
        log: SourceLog,
        *,
        is_last: bool,
    ) -> Sequence[Answered]:
        """Return the pages of one provider until there is enough; none if the first one failed."""
        if secret := secret_in(query.text):
            raise _unfit(f"the query contains what looks like {secret}")
        answers: list[Answered] = []
        category = next((each for each in engine.categories if each == query.category), None)
        rounds = -(-min(wanted, MAX_RESULTS) // engine.page_size)
        for page in range(query.page, query.page + rounds):
            asked = OpenQuery(
                text=query.text,
                keywords=(),
                now=datetime.fromtimestamp(self._clock(), UTC),
                category=category or Category.GENERAL,
                language=query.language,
                safe_search=query.safe_search,
                time_range=query.time_range,
                page=page,
            )
            # After the first page, a failure only means fewer results.
            answered = await self._rounds.ask_one(
                engine, asked, log, is_last=is_last and not answers
            )
            if answered is None:
                break
            answers.append(answered)
            if not _page(answered).has_next:
                break
        return answers


def _page(answered: Answered) -> ResultPage:
    return answered.outcome.page or ResultPage()


def _found(
    engine: Engine, answers: Sequence[Answered], query: InstanceQuery, log: SourceLog
) -> Found:
    missing = (UnresponsiveEngine(engine=name, reason=why) for name, why in log.skipped.items())
    first, *others = map(_page, answers)
    said = [f"Answered by {engine.title}, with your key."]
    language = query.language.partition("-")[0]
    if language not in engine.languages | _ANY_LANGUAGE:
        said.append(f"Results in any language: {engine.title}.")
    return Found(
        pages=(replace(first, unresponsive_engines=tuple(missing)), *others),
        instance=engine.address,
        attempts=tuple(log.attempts),
        complete=not _page(answers[-1]).has_next,
        remarks=tuple(said),
        keyed=engine.title,
    )


def _unfit(why: str) -> NoInstancesError:
    return NoInstancesError(
        f"No keyed provider was used: {why}",
        reason=UnavailableReason.EXHAUSTED,
        advice="Search another category, or through an instance.",
    )

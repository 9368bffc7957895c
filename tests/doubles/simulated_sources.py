"""Open sources without a network: what they answer, and after how long, is told."""

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from searx_mcp.models.attempt import Format, Verdict
from searx_mcp.models.hits import Hit, ResultPage
from searx_mcp.pool.proposal import Outcome
from searx_mcp.sources.open.answers import Answered
from searx_mcp.sources.open.engine import Ask, Engine, OpenQuery

_FULL = 3


@dataclass(frozen=True, slots=True)
class SourceBehaviour:
    """How a simulated open source answers.

    Attributes:
        seconds: until its answer.
        titles: of its hits, on its first page; further pages are empty.
        has_next: what its first page says of a second one.
        verdict: what an answer without hits comes to.
        pause: seconds it asks to be left alone for.
        detail: why it does not answer.
        ours: whether what it was asked is to blame for that.
        loaded: so many of its first requests it turns away because of its load, which is no limit.
    """

    seconds: float = 0.3
    titles: Sequence[str] = ()
    has_next: bool | None = False
    verdict: Verdict = Verdict.EMPTY
    pause: float | None = None
    detail: str = ""
    ours: bool = False
    loaded: int = 0


@dataclass(slots=True)
class SimulatedSources:
    """Answers in the place of `OpenUpstream`.

    Attributes:
        behaviours: by the engine's name; one that is not here finds nothing.
        asked: every request in order: the engine's name and what it was asked.
        under_way: requests by engine that have no answer yet.
        most: the largest number of requests at the same time, by engine.
    """

    behaviours: Mapping[str, SourceBehaviour] = field(default_factory=dict)
    asked: list[tuple[str, OpenQuery]] = field(default_factory=list)
    under_way: Counter[str] = field(default_factory=Counter)
    most: Counter[str] = field(default_factory=Counter)

    async def ask(
        self,
        engine: Engine,
        ask: Ask,
        query: OpenQuery,
        *,
        timeout: float,  # noqa: ASYNC109 - as the real one has it
    ) -> Answered:
        """Answer as told, or not within the time."""
        behaviour = self.behaviours.get(engine.name, SourceBehaviour())
        self.asked.append((engine.name, query))
        self.under_way[engine.name] += 1
        self.most[engine.name] = max(self.most[engine.name], self.under_way[engine.name])
        try:
            await asyncio.sleep(min(behaviour.seconds, timeout))
        finally:
            self.under_way[engine.name] -= 1
        if behaviour.seconds > timeout:
            late = Outcome(
                Verdict.TIMEOUT,
                Format.JSON,
                timeout,
                retry_after=engine.rest or None,
                detail="Too slow.",
            )
            return Answered(late)
        if sum(name == engine.name for name, _ in self.asked) <= behaviour.loaded:
            loaded = Outcome(Verdict.SERVER_ERROR, Format.JSON, behaviour.seconds, status_code=503)
            return Answered(loaded, again=True)
        return _answered(engine, query, behaviour)


def _answered(engine: Engine, query: OpenQuery, behaviour: SourceBehaviour) -> Answered:
    titles = behaviour.titles if query.page == 1 else ()
    hits = tuple(
        Hit(
            url=f"https://{engine.name}.example/{title.replace(' ', '-')}",
            title=title,
            position=place,
            engines=(engine.name,),
            category=query.category,
        )
        for place, title in enumerate(titles, start=1)
    )
    verdict = behaviour.verdict
    if hits:
        verdict = Verdict.FULL if len(hits) >= _FULL else Verdict.THIN
    has_next = behaviour.has_next if query.page == 1 else False
    answers = verdict.ends_search
    outcome = Outcome(
        verdict,
        Format.JSON,
        behaviour.seconds,
        status_code=None if verdict.is_network else 200,
        page=ResultPage(hits=hits, rows_seen=len(hits), has_next=has_next) if answers else None,
        retry_after=None if answers else behaviour.pause,
        detail=behaviour.detail,
        ours=behaviour.ours,
    )
    return Answered(outcome, behaviour.pause if answers else None)

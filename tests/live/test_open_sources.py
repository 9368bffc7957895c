"""One request to each open source, for a person to look at; never part of the suite.

    SEARX_MCP_LIVE_CONTACT=you@example.org pytest -m live -s tests/live/test_open_sources.py

The contact is yours, an email address or a URL, and goes to the operators who ask for one. Requests are
charged to the budgets of whoever runs it, keep the spacing of the table, and teach their own state which
engine rests. What engines answer may change; what changed is printed, and only an answer that cannot be
used is a failure.
"""

import asyncio
import os
import re
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, date, datetime
from pathlib import Path
from random import Random
from typing import Any, cast

import pytest

from searx_mcp.client.asking import USER_AGENT
from searx_mcp.client.stores import open_state
from searx_mcp.http.http import HttpSession, Reply
from searx_mcp.http.sessions import Sessions
from searx_mcp.models.attempt import Format, Verdict
from searx_mcp.models.base import Frozen
from searx_mcp.models.hits import Hit, ResultPage
from searx_mcp.models.request import Category
from searx_mcp.pool.config import PoolConfig
from searx_mcp.pool.pool import SourcePool
from searx_mcp.search.providers.concurrent_queries import OpenUpstream
from searx_mcp.settings.values import Settings
from searx_mcp.sources.open.answers import Answered
from searx_mcp.sources.open.engine import Engine, OpenQuery
from searx_mcp.sources.open.members import rate_limits
from searx_mcp.sources.open.question import Identifier, IdentifierKind
from searx_mcp.sources.open.table import ENGINES, engines_of
from searx_mcp.storage.state import StateStore

CONTACT = os.environ.get("SEARX_MCP_LIVE_CONTACT", "").strip()
STATE = Settings().state_folder()
"""Both are found before the suite hides the user's environment from its tests."""
ANSWERS = Path(__file__).parents[1] / "sources" / "open" / "answers"
"""The answers as documented, with which those that come are compared."""
MAX_WAIT = 30.0
"""Seconds; spacing is over sooner, a day's budget is not."""
MAX_AGE = 180
"""Days after which terms have to be read again."""

_ELSEWHERE = {
    Verdict.DNS, Verdict.CONNECTION, Verdict.TIMEOUT, Verdict.RATE_LIMITED, Verdict.SERVER_ERROR,
}  # fmt: skip
"""What says more about the network or the hour than about us."""
_LIMIT = re.compile(r"rate-?limit|retry-after|x-api-pool", re.IGNORECASE)

_DOI = Identifier(IdentifierKind.DOI, "10.1038/nature14539")
QUESTIONS: Mapping[str, Mapping[str, object]] = {
    "crates": {"text": "json"},
    "huggingface": {"text": "bert"},
    "crossref": {"text": "deep learning", "category": Category.SCIENCE},
    "arxiv": {"text": "deep learning", "category": Category.SCIENCE},
    "europepmc": {"text": "deep learning", "category": Category.SCIENCE, "identifier": _DOI},
    "openverse": {"category": Category.IMAGES},
    "commons": {"category": Category.IMAGES},
    "internetarchive": {"category": Category.VIDEOS},
    "sepiasearch": {"category": Category.VIDEOS},
    "gdelt": {"text": "election", "category": Category.NEWS},
    "photon": {"text": "berlin", "category": Category.MAP},
    "musicbrainz": {"text": "nevermind", "category": Category.MUSIC},
}
"""What cannot have an empty answer, where it is not the word `python`."""


def question(engine: Engine) -> OpenQuery:
    """The question to an engine; it is handed the contact as in a search."""
    fields = {"text": "python", "category": Category.IT, **QUESTIONS.get(engine.name, {})}
    keywords = tuple(str(fields["text"]).split())
    return OpenQuery(keywords=keywords, now=datetime.now(UTC), contact=CONTACT, **fields)  # type: ignore[arg-type]  # fields by name


def now() -> float:
    return datetime.now(UTC).timestamp()


class Listening:
    """A session that takes down what the headers of its answers say of limits."""

    def __init__(self, session: HttpSession) -> None:
        self._session = session
        self.limits: list[str] = []

    @asynccontextmanager
    async def open(self, url: str, **options: Any) -> AsyncIterator[Reply]:
        async with self._session.open(url, **options) as reply:
            self.limits += [f"{k}: {v}" for k, v in reply.headers.items() if _LIMIT.search(k)]
            yield reply


async def charge(state: StateStore, engine: Engine) -> None:
    """Charge one request, when the spacing of the table lets it go."""
    account = rate_limits(engine, has_contact=True)
    while not (reservation := await state.reserve([account], Format.JSON, now())).granted:
        wait = (reservation.retry_at or 0.0) - now()
        if wait > MAX_WAIT:
            pytest.skip(f"its budget is spent for {wait:.0f} s")
        await asyncio.sleep(max(wait, 0.01))


async def send(engine: Engine, settings: Settings) -> tuple[Answered, Sequence[str]]:
    """One request, and the limits that the headers of its answer name."""
    query = question(engine)
    ask = engine.ask(query)
    assert ask is not None
    async with Sessions(settings.network) as sessions:
        session = Listening(sessions.public)
        upstream = OpenUpstream(
            session_for=lambda _engine: cast("HttpSession", session),
            user_agent=USER_AGENT,
            contact=CONTACT,
            clock=now,
        )
        answered = await upstream.ask(engine, ask, query, timeout=engine.timeout)
    return answered, session.limits


async def send_politely(engine: Engine, settings: Settings) -> tuple[Answered, Sequence[str]]:
    """The same, unless the engine rests or its budget is spent; the next search knows what came of it."""
    url = engine.address
    pool = SourcePool([(engine.name, url)], config=PoolConfig(), rng=Random())
    state = open_state(settings)
    try:
        pool.restore(await state.load(now()))
        if not pool.may_ask(url, now()):
            wait = pool.retry_after(url, now())
            pytest.skip(f"it rests for {wait:.0f} s, as earlier searches have learned")
        await charge(state, engine)
        began = now()
        pool.begin(url, began)
        answered, limits = await send(engine, settings)
        pool.report(url, answered.outcome, now())
        if answered.pause is not None:
            pool.rest(url, answered.pause, now())
        await state.save(pool.learned_since(began - 1), now())
    finally:
        await state.aclose()
    return answered, limits


def filled(hits: Sequence[Hit]) -> set[str]:
    """The fields that have a value in any of the rows."""
    names: set[str] = set()
    for hit in hits:
        for name, value in hit._asdict().items():
            if isinstance(value, Frozen):
                names |= {f"{name}.{part}" for part, inner in value if inner not in (None, "", ())}
            elif value:
                names.add(name)
    return names


def drift(engine: Engine, answered: Answered) -> list[str]:
    """What is not as documented, without being wrong."""
    outcome = answered.outcome
    page = outcome.page or ResultPage()
    found = []
    if outcome.verdict is not Verdict.FULL and question(engine).identifier is None:
        found.append(f"the verdict is {outcome.verdict} ({outcome.detail or 'no reason'})")
    if unused := page.rows_seen - len(page.hits):
        found.append(f"{unused} of {page.rows_seen} rows could not be used")
    examples = sorted(ANSWERS.glob(f"{engine.name}.*"))
    if not page.hits or not examples:
        return found
    documented = engine.parse(examples[0].read_bytes(), question(engine))
    missing = sorted(filled(documented.hits) - filled(page.hits))
    if missing:
        found.append(f"empty in all rows: {', '.join(missing)}")
    if documented.has_next is not None and page.has_next is None:
        found.append("it does not tell any more whether there is a next page")
    return found


@pytest.mark.live
@pytest.mark.skipif(not CONTACT, reason="SEARX_MCP_LIVE_CONTACT names no contact of yours")
@pytest.mark.parametrize("name", [row.name for row in ENGINES])
async def test_an_open_source_answers_in_the_documented_shape(name, capsys):
    settings = Settings.model_validate(
        {"open_sources": {"contact": CONTACT}, "storage": {"folder": str(STATE)}}
    )
    engine = engines_of(settings.open_sources).get(name)
    if engine is None:
        pytest.skip("it is not asked unless its own setting says so")
    answered, limits = await send_politely(engine, settings)
    outcome = answered.outcome
    page = outcome.page or ResultPage()
    rows = f"{len(page.hits)} of {page.rows_seen} rows"
    took = f"{outcome.elapsed * 1_000:.0f} ms of {engine.timeout:.0f} s"
    status = outcome.status_code or "-"
    report = [f"{engine.title}: {outcome.verdict}, status {status} in {took}, {rows}"]
    report += [f"  limit: {each}" for each in limits]
    if answered.pause is not None:
        report.append(f"  it asks to be left alone for {answered.pause:.0f} s")
    report += [f"  drifted: {each}" for each in drift(engine, answered)]
    with capsys.disabled():
        print("", *report, sep="\n")  # noqa: T201 - the report is for a person
    if outcome.verdict in _ELSEWHERE:
        pytest.skip(f"{outcome.verdict}: {outcome.detail}")
    assert outcome.page is not None, outcome.detail
    assert outcome.page.hits
    assert all(
        hit.title and hit.url.startswith(("https://", "http://")) for hit in outcome.page.hits
    )


@pytest.mark.live
@pytest.mark.parametrize("engine", ENGINES, ids=lambda row: row.name)
def test_the_terms_of_an_open_source_were_read_within_the_last_half_year(engine):
    read = date.fromisoformat(f"{engine.terms_checked}-01")
    age = (datetime.now(UTC).date() - read).days
    assert age <= MAX_AGE, f"read {engine.terms_url} again, and date the row anew"

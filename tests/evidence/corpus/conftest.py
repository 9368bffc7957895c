"""Parts of the corpus as a client wires them, and servers on loopback for pages, vectors and orders."""

import random
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from typing_extensions import override

from searx_mcp.client.asking import wire_fetcher
from searx_mcp.evidence.config import CorpusConfig, EmbeddingConfig, RerankConfig
from searx_mcp.evidence.corpus.corpus import Corpus
from searx_mcp.evidence.corpus.language_models import Reranker, ServerEmbedder
from searx_mcp.evidence.corpus.retrieval import Retriever
from searx_mcp.evidence.storage.sqlite import SqliteCorpusStore
from searx_mcp.evidence.storage.store import CorpusStore
from searx_mcp.fetch.hops.domains import DomainPolicy
from searx_mcp.fetch.turns import Turns
from searx_mcp.http.config import NetworkConfig
from searx_mcp.http.sessions import Sessions
from searx_mcp.settings.values import Settings
from searx_mcp.storage.memory import MemoryPageStore
from searx_mcp.storage.pages import PageStore
from searx_mcp.tasks import Tasks
from searx_mcp.testing.clock import FakeClock
from searx_mcp.testing.loopback import LoopbackServer, ReceivedRequest
from searx_mcp.testing.web import FakePage, FakeWeb, article
from searx_mcp.urls.address import AllowList
from searx_mcp.workers.threads import ThreadWorkers

NAMES = ("wax", "honey", "queen", "swarm", "smoke", "winter", "mites", "clover")


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock(1_790_000_000.0)


@pytest.fixture
async def site() -> AsyncIterator[FakeWeb]:
    async with FakeWeb() as site:
        yield site


@dataclass(slots=True)
class ChangingPage:
    """A page with an ETag, which answers 304 to whoever has it already.

    Attributes:
        body: what it says now.
        headers: beside the ETag.
        status: of the answer.
    """

    body: str
    headers: Mapping[str, str] = field(default_factory=dict)
    status: int = 200

    def __call__(self, request: ReceivedRequest) -> FakePage:
        tag = f'"{hash(self.body)}"'
        headers = {"ETag": tag, **self.headers}
        if request.headers.get("If-None-Match") == tag:
            return FakePage(status=304, headers=headers)
        return FakePage(self.body, status=self.status, headers=headers)


@pytest.fixture
def page_of() -> Callable[..., ChangingPage]:
    """Make a page of paragraphs."""

    def make(*paragraphs: str, title: str = "Hives", **known) -> ChangingPage:
        return ChangingPage(article(title, paragraphs), **known)

    return make


@pytest.fixture
def sections_of() -> Callable[..., ChangingPage]:
    """Make a page with a section for each text, each long enough to be a chunk."""

    def make(*texts: str, **known) -> ChangingPage:
        parts = (
            f"<h2>Part {number}</h2><p>{text} {filler(text)}</p>"
            for number, text in enumerate(texts)
        )
        body = f"<html lang=en><title>Hives</title><main><h1>Hives</h1>{''.join(parts)}</main>"
        return ChangingPage(body, **known)

    return make


@pytest.fixture
def wax_url(site: FakeWeb, page_of) -> str:
    """The address of a page that makes one chunk."""
    site.put("/a", page_of("Bees make wax."))
    return site.url("/a")


@pytest.fixture
def hives_url(site: FakeWeb, sections_of) -> str:
    """The address of a page that makes two chunks."""
    site.put("/a", sections_of("Bees make wax.", "Drones do nothing."))
    return site.url("/a")


def filler(text: str) -> str:
    """About 600 characters of words that depend on a text."""
    dice = random.Random(text)
    words = ["".join(dice.choices("abdeiklmnorstu", k=dice.randint(3, 8))) for _ in range(90)]
    return " ".join(words) + "."


class FakeEmbedding(LoopbackServer):
    """Answers `POST /v1/embeddings` with vectors that count some words; knows no limits.

    Attributes:
        batches: the texts of each request.
        most_at_once: requests that were under way at the same time, at most.
        keys: the Authorization header of each request.
        answers: called with the number of the request and the proper answer; gives what is sent.
    """

    def __init__(self) -> None:
        super().__init__(self._embed)
        self.batches: list[list[str]] = []
        self.keys: list[str] = []
        self.most_at_once = 0
        self._at_once = 0
        self.answers: Callable[[int, object], Awaitable[web.Response]] | None = None

    @property
    def texts(self) -> list[str]:
        return [text for batch in self.batches for text in batch]

    async def _embed(
        self, request: web.BaseRequest, received: ReceivedRequest
    ) -> web.StreamResponse:
        asked = await request.json()
        assert received.path == "/v1/embeddings"
        number = len(self.batches)
        self.batches.append(asked["input"])
        self.keys.append(received.headers.get("Authorization", ""))
        self._at_once += 1
        self.most_at_once = max(self.most_at_once, self._at_once)
        size = asked.get("dimensions", len(NAMES) + 1)
        data = [
            {"index": index, "embedding": vector_of(text, size)}
            for index, text in enumerate(asked["input"])
        ]
        answer = {"object": "list", "data": data[::-1], "model": asked["model"]}
        try:
            if self.answers is not None:
                return await self.answers(number, answer)
            return web.json_response(answer)
        finally:
            self._at_once -= 1


def vector_of(text: str, size: int) -> list[float]:
    """Count some words, and a little of everything."""
    counts = [float(text.lower().count(name)) for name in NAMES]
    return [0.1, *counts, *[0.0] * size][:size]


@pytest.fixture
async def embedding() -> AsyncIterator[FakeEmbedding]:
    async with FakeEmbedding() as server:
        yield server


class FakeRerank(LoopbackServer):
    """Answers a rerank request with what a test says.

    Attributes:
        asked: the body of each request.
        answers: called with the body; gives what is sent.
    """

    def __init__(self) -> None:
        super().__init__(self._rerank)
        self.asked: list[dict[str, Any]] = []
        self.answers: Callable[[dict[str, Any]], Awaitable[web.Response]] | None = None

    async def _rerank(
        self, request: web.BaseRequest, received: ReceivedRequest
    ) -> web.StreamResponse:
        asked = await request.json()
        self.asked.append(asked)
        assert self.answers is not None
        return await self.answers(asked)


@pytest.fixture
async def rerank() -> AsyncIterator[FakeRerank]:
    async with FakeRerank() as server:
        yield server


@pytest.fixture
def pages() -> PageStore:
    """The cache of pages, shared by all corpora of a test."""
    return MemoryPageStore(max_bytes=16 << 20, max_age=7 * 86_400)


@pytest.fixture
def place(request, tmp_path: Path) -> Path | None:
    """Where the corpus is kept: in memory, unless a test asks for a file, which is the same to it."""
    return tmp_path / "corpus-v1.db" if getattr(request, "param", "") == "file" else None


@dataclass(frozen=True)
class Named:
    """A server that is only named: what it says is in the fixture `answers`."""

    base: str = "http://models.example"


@pytest.fixture
def named() -> Named:
    return Named()


class Parts:
    """Makes what a corpus consists of; all is closed at the end of the test."""

    def __init__(
        self,
        stack: AsyncExitStack,
        tasks: Tasks,
        clock: FakeClock,
        pages: PageStore,
        places: list[str],
    ) -> None:
        self.stack = stack
        self.tasks = tasks
        self._clock = clock
        self._pages = pages
        self._places = places

    @override
    def __repr__(self) -> str:
        return "<Parts>"

    def store(self, path: Path | None, **known) -> CorpusStore:
        options = {"namespace": "mine", "max_bytes": 1 << 26, "max_age": 90 * 86_400.0, **known}
        store = SqliteCorpusStore(path, **options)
        self.stack.push_async_callback(store.aclose)
        return store

    def sessions(self, *origins: str) -> Sessions:
        allow = AllowList.parse(self._places)
        sessions = Sessions(NetworkConfig(), allow=allow, operator_origins=origins)
        self.stack.push_async_callback(sessions.aclose)
        return sessions

    def embedder(
        self, server: LoopbackServer | Named, *, at_once: int = 4, seed: int = 1, **known
    ) -> ServerEmbedder:
        config = EmbeddingConfig(url=server.base, **{"model": "m", **known})
        sessions = self.sessions(server.base)
        dice = random.Random(seed)
        return ServerEmbedder(config, lambda: sessions.operator, at_once=at_once, rng=dice)

    def reranker(self, server: LoopbackServer | Named, **known) -> Reranker:
        config = RerankConfig(url=f"{server.base}/rerank", **known)
        sessions = self.sessions(server.base)
        return Reranker(config, lambda: sessions.operator)

    def corpus(
        self,
        path: Path | None = None,
        *,
        store: CorpusStore | None = None,
        embedder: ServerEmbedder | None = None,
        reranker: Reranker | None = None,
        fetch: Mapping[str, object] | None = None,
        in_background: bool = False,
        **known,
    ) -> Corpus:
        settings = Settings.model_validate(
            {
                "web_fetch": {"user_agent": "searx-mcp/test"},
                "fetch": {
                    "allow_private": self._places,
                    "host_rate": 6_000,
                    **(fetch or {}),
                },
            }
        )
        fetcher = wire_fetcher(
            settings,
            sessions=self.sessions(),
            allow=AllowList.parse(self._places),
            domains=DomainPolicy(()),
            pages=self._pages,
            workers=ThreadWorkers(settings.workers),
            spawn=self.tasks.spawn,
            clock=self._clock,
            stack=self.stack,
        )
        store = store or self.store(path)
        spawn = self.tasks.spawn if in_background else None
        corpus = Corpus(
            store,
            fetcher,
            Retriever(store, embedder, reranker, spawn=spawn),
            turns=Turns(self.tasks.spawn),
            config=CorpusConfig(**known),
            clock=self._clock,
        )
        self.stack.push_async_callback(corpus.aclose)
        return corpus


@pytest.fixture
async def parts(clock: FakeClock, pages: PageStore, site: FakeWeb) -> AsyncIterator[Parts]:
    async with Tasks() as tasks, AsyncExitStack() as stack:
        yield Parts(stack, tasks, clock, pages, [site.origin])


@pytest.fixture
async def corpus(parts: Parts, place: Path | None) -> Corpus:
    return parts.corpus(place)


@pytest.fixture
async def embedding_corpus(parts: Parts, embedding: FakeEmbedding) -> Corpus:
    """A corpus that asks for the vectors that a question needs."""
    return parts.corpus(embedder=parts.embedder(embedding))


@pytest.fixture
async def background_corpus(parts: Parts, embedding: FakeEmbedding) -> Corpus:
    """A corpus that asks for all vectors, behind its answers."""
    return parts.corpus(embedder=parts.embedder(embedding), in_background=True)

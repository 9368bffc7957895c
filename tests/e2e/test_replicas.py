"""Real processes of two versions on one Redis, as a balancer has them behind it: together they act as one.

What each process remembers for itself lies in a folder of its own, as on several machines.
"""

import asyncio
import json
import os
import re
import secrets
import shutil
import signal
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterable
from contextlib import AsyncExitStack, aclosing
from itertools import count
from pathlib import Path
from typing import Any

import httpx2
import pytest
from typing_extensions import override

from searx_mcp.storage.redis import RedisLink
from searx_mcp.testing.loopback import ReceivedRequest
from searx_mcp.testing.searxng import FakeSearxng
from searx_mcp.testing.web import FakePage, FakeWeb, article
from tests.doubles.replicas import GUIDES, Balancer, Replica, nginx
from tests.doubles.serving import connected
from tests.doubles.tokens import new_token

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(os.name != "posix", reason="only POSIX has signals that end"),
]

ADDED = "of the next version"
BURST = 10
"""What public instances are asked at once at most, however many they are: `docs/decisions/budgets.md`."""
PATIENCE = 270
"""Seconds until a test fails that would hang; nothing is measured."""


class Gate:
    """Lets searches at instances go on, or holds them.

    Attributes:
        waiting: searches that are at an instance now.
    """

    def __init__(self) -> None:
        self.waiting = 0
        self._open = asyncio.Event()
        self._open.set()
        self._changed = asyncio.Condition()

    def close(self) -> None:
        self._open.clear()

    def open(self) -> None:
        self._open.set()

    async def pass_through(self) -> None:
        """Be held, if it is closed."""
        self.waiting += 1
        try:
            async with self._changed:
                self._changed.notify_all()
            await self._open.wait()
        finally:
            self.waiting -= 1

    async def until_waiting(self, number: int) -> None:
        """Wait until so many are held."""
        async with self._changed:
            await self._changed.wait_for(lambda: self.waiting >= number)


class Instance(FakeSearxng):
    """An instance with a gate in front of its searches."""

    def __init__(self, gate: Gate, **options: Any) -> None:
        super().__init__(**options)
        self._gate = gate

    @override
    async def respond(self, request: Any, received: ReceivedRequest) -> Any:
        if received.path.endswith("/search"):
            await self._gate.pass_through()
        return await super().respond(request, received)


Start = Callable[..., Awaitable[list[Replica]]]


@pytest.fixture
def prefix() -> str:
    """In front of the keys of the replicas of one test."""
    return f"{secrets.token_hex(8)}:"


@pytest.fixture
async def start(
    tmp_path: Path, redis_url: str, prefix: str, unused_port: Callable[[], int]
) -> AsyncIterator[Start]:
    """Start replicas that share what is on one server, and nothing else."""
    config = tmp_path / "empty.toml"
    config.touch()
    async with AsyncExitStack() as stack:

        async def start(*versions: str, **environment: str) -> list[Replica]:
            replicas = []
            for version in versions:
                port = unused_port()
                told = {
                    "SEARX_MCP_CONFIG": str(config),
                    "SEARX_MCP_LOG_LEVEL": "WARNING",
                    "SEARX_MCP_OPEN_SOURCES__MODE": "off",
                    "SEARX_MCP_INSTANCES__SOURCE": "",
                    "SEARX_MCP_STORAGE__FOLDER": str(tmp_path / f"{port}"),
                    "SEARX_MCP_REDIS_URL": redis_url,
                    "SEARX_MCP_REDIS__PREFIX": prefix,
                    "SEARX_MCP_REDIS__SECRET": "the same for all replicas",
                    "SEARX_MCP_REDIS__TIMEOUT": "10",
                    "SEARX_MCP_SEARCH__ATTEMPT_TIMEOUT": "45",
                    "SEARX_MCP_SEARCH__PHASE_TIMEOUT": "45",
                    "SEARX_MCP_WEB_SEARCH__DEFAULT_TIMEOUT": "45",
                    "SEARX_MCP_WEB_SEARCH__REQUEST_DELAY_RANGE": "[0, 0]",
                    **environment,
                }
                replicas.append(Replica(version, port, {**os.environ, **told}))
                stack.push_async_callback(replicas[-1].aclose)
            async with asyncio.TaskGroup() as group:
                for replica in replicas:
                    group.create_task(replica.start())
            return replicas

        yield start


@pytest.fixture
async def http() -> AsyncIterator[httpx2.AsyncClient]:
    """A client that makes a connection for each request, as a balancer sees many clients."""
    limits = httpx2.Limits(max_connections=None, max_keepalive_connections=0)
    async with httpx2.AsyncClient(trust_env=False, timeout=PATIENCE, limits=limits) as client:
        yield client


def reaching(*servers: FakeSearxng | FakeWeb) -> dict[str, str]:
    return {"SEARX_MCP_FETCH__ALLOW_PRIVATE": json.dumps([server.origin for server in servers])}


def using(*instances: FakeSearxng) -> dict[str, str]:
    return {"SEARXNG_URL": ";".join(instance.url for instance in instances)}


def public(folder: Path, instances: Iterable[FakeSearxng]) -> dict[str, str]:
    catalog = folder / "instances.json"
    rows = [{"url": instance.url, "tls_grade": "A+", "http_grade": "A+"} for instance in instances]
    catalog.write_text(json.dumps({"listed_at": "2026-08-05T00:00:00Z", "instances": rows}))
    return {"SEARX_MCP_INSTANCES__CATALOG": str(catalog), **reaching(*instances)}


async def search(http: httpx2.AsyncClient, url: str, query: str) -> httpx2.Response | None:
    """The answer to a search; nothing if the connection broke."""
    try:
        return await http.post(f"{url}/v1/tools/web_search", json={"query": query})
    except httpx2.TransportError:
        return None


async def statuses(*calls: Coroutine[Any, Any, httpx2.Response | None]) -> list[int]:
    """The status of each answer, all asked for at once; 0 where there is none."""
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(call) for call in calls]
    answers = [task.result() for task in tasks]
    return [answer.status_code if answer else 0 for answer in answers]


async def kept(redis_url: str, key: str) -> list[bytes]:
    """What is on the server under one of the keys: a sorted set or a hash."""
    async with aclosing(RedisLink(redis_url, patience=10)) as link:
        (kind,) = await link.run(lambda session: session.ask(("TYPE", key)))
        command = ("HGETALL", key) if kind == b"hash" else ("ZRANGE", key, 0, -1)
        (reply,) = await link.run(lambda session: session.ask(command))
    return list(reply)


async def record_after(redis_url: str, prefix: str, url: str, at: float) -> dict[str, Any]:
    """The record of an instance, once it is newer."""
    while True:
        pairs = iter(await kept(redis_url, f"{prefix}v1:records"))
        for name, value in zip(pairs, pairs, strict=True):
            body: dict[str, Any] = json.loads(value.partition(b" ")[2])
            if name.decode() == url and body["last_at"] > at:
                return body


class Load:
    """Clients that search without a pause, each time for something new, until a connection breaks.

    Args:
        http: makes their connections.
        url: whom they ask.
        clients: how many there are.

    Attributes:
        ends: what came of how many searches, by status; 0 for those without an answer.
    """

    _words = count()

    def __init__(self, http: httpx2.AsyncClient, url: str, clients: int) -> None:
        words = next(self._words)
        self.ends: Counter[int] = Counter()
        self._changed = asyncio.Condition()
        self._is_ending = False
        self._tasks = [
            asyncio.ensure_future(self._search(http, url, f"bees {words} {client}"))
            for client in range(clients)
        ]

    async def end(self) -> None:
        """Wait for the last answers."""
        self._is_ending = True
        for task in self._tasks:
            await task

    async def until_answered(self, number: int) -> None:
        """Wait until so many more have an answer of use."""
        number += self.ends[200]
        async with self._changed:
            await self._changed.wait_for(lambda: self.ends[200] >= number)

    async def _search(self, http: httpx2.AsyncClient, url: str, words: str) -> None:
        for number in count():
            if self._is_ending:
                return
            (status,) = await statuses(search(http, url, f"{words} {number}"))
            async with self._changed:
                self.ends[status] += 1
                self._changed.notify_all()
            if not status:
                return  # what is killed may still be connected to while it dies


@pytest.fixture
def gate() -> Gate:
    return Gate()


@pytest.fixture
async def own(gate: Gate) -> AsyncIterator[Instance]:
    """The replicas' own instance, which nothing limits."""
    async with Instance(gate, formats=("html", "json")) as instance:
        yield instance


async def test_budgets_of_public_instances_hold_over_all_replicas_one_of_which_is_killed(
    start, http, gate, redis_url, prefix, tmp_path
):
    async with AsyncExitStack() as stack, asyncio.timeout(PATIENCE):
        fakes = [Instance(gate, link_token=True) for _ in range(12)]
        for fake in fakes:
            await stack.enter_async_context(fake)
        doomed, other = await start("this", "next", **public(tmp_path, fakes))

        def searches(replica: Replica, words: str) -> Coroutine[Any, Any, list[int]]:
            queries = [f"{words} {number} {replica.port}" for number in range(20)]
            return statuses(*(search(http, replica.url, query) for query in queries))

        gate.close()
        async with asyncio.TaskGroup() as group:
            first = [group.create_task(searches(replica, "bees")) for replica in (doomed, other)]
            await gate.until_waiting(BURST)
            await doomed.end(signal.SIGKILL)
            gate.open()
        of_doomed, of_other = [{*each.result()} for each in first]
        assert of_doomed <= {0, 503}
        assert of_other <= {200, 503}
        await doomed.start("next")
        assert {*await searches(doomed, "wasps"), *await searches(other, "wasps")} == {503}

        charges = [await kept(redis_url, f"{prefix}v1:charges:{fake.url}") for fake in fakes]
        assert [len(each) for each in charges] == [fake.searches for fake in fakes]
        assert sorted(fake.searches for fake in fakes) == [0, 0] + [1] * BURST


async def test_what_one_replica_found_and_learned_the_other_knows(
    start, http, own, redis_url, prefix
):
    async with asyncio.timeout(PATIENCE):
        one, other = await start("next", "this", **using(own))
        first, second = [await search(http, each.url, "bees") for each in (one, other)]
        assert first is not None
        assert second is not None
        assert first.json()["count"] == 10
        assert second.json() == first.json()
        assert own.searches == 1

        learned = await record_after(redis_url, prefix, own.url, 0.0)
        await search(http, other.url, "wasps")
        later = await record_after(redis_url, prefix, own.url, learned["last_at"])
    assert (learned["successes"], later["successes"]) == (1, 2)
    assert later["added"] == ADDED, "this version keeps a field that it does not know"


async def test_what_both_are_asked_at_once_is_asked_outside_once_or_again_if_the_first_is_killed(
    start, http, gate, own
):
    ends = []
    async with asyncio.timeout(PATIENCE):
        first, other = await start("next", "this", **using(own))
        for words in ("bees", "wasps"):
            gate.close()
            async with asyncio.TaskGroup() as group:
                asked = group.create_task(statuses(search(http, first.url, words)))
                await gate.until_waiting(1)
                calls = (search(http, other.url, words) for _ in range(5))
                others = group.create_task(statuses(*calls))
                for _ in range(5):  # by now it has the others
                    await http.get(f"{other.url}/v1/instances")
                if words == "wasps":
                    await first.end(signal.SIGKILL)
                gate.open()
            ends.append(asked.result() + others.result())
            assert own.searches == {"bees": 1, "wasps": 3}[words]
    assert ends == [[200] * 6, [0] + [200] * 5]


async def test_a_page_that_one_has_read_another_reads_on_when_that_is_gone(start, http):
    paragraphs = [f"Sentence {n} on what keepers do with hives in winter." for n in range(200)]
    pages = {"/hives": FakePage(article("Hives", paragraphs))}
    async with FakeWeb(pages) as site, asyncio.timeout(PATIENCE):
        one, other = await start("this", "next", **reaching(site))
        begun = await fetch(http, one, url=site.url("/hives"), max_chars=500)
        assert begun["truncated"]
        await one.end(signal.SIGKILL)
        rest = {"cursor": begun["cursor"], "offset": 500, "limit": 500}
        further = await fetch(http, other, **rest)
        await one.start()
        assert await fetch(http, one, **rest) == further
        again = await fetch(http, other, url=site.url("/hives"), max_chars=500)
    assert again == begun
    assert len(site.requests) == 1


async def fetch(http: httpx2.AsyncClient, replica: Replica, **body: Any) -> dict[str, Any]:
    answer = await http.post(f"{replica.url}/v1/tools/web_fetch", json=body)
    assert answer.status_code == 200, answer.text
    content: dict[str, Any] = answer.json()
    return content


async def test_a_token_has_its_quota_once_over_all_replicas(start, own, tmp_path):
    token, lines = new_token("laptop")
    tokens = tmp_path / "tokens.toml"
    tokens.write_text(f"{lines}per_day = 10\n")
    tokens.chmod(0o600)
    told = {"SEARX_MCP_HTTP__TOKENS_FILE": str(tokens), **using(own)}
    headers = {"Authorization": f"Bearer {token}"}
    async with asyncio.timeout(PATIENCE):
        replicas = await start("this", "next", **told)
        async with httpx2.AsyncClient(trust_env=False, timeout=PATIENCE, headers=headers) as http:
            ends = await statuses(
                *(search(http, replica.url, "bees") for _ in range(10) for replica in replicas)
            )
            await replicas[0].end(signal.SIGKILL)
            await replicas[0].start()
            again = await statuses(*(search(http, replica.url, "bees") for replica in replicas))
    assert Counter(ends) == {200: 10, 429: 10}
    assert again == [429, 429]


async def test_pages_that_one_keeps_are_in_the_corpus_of_all(start, http, postgres_url, prefix):
    """One is killed while it keeps pages: what is there then are whole pages."""
    facts = [
        f"A colony number {n} stores {n + 10} kilograms of honey for winter." for n in range(9)
    ]
    pages = {f"/{n}": FakePage(article(f"Colony {n}", [fact] * 3)) for n, fact in enumerate(facts)}
    async with FakeWeb(pages) as site, asyncio.timeout(PATIENCE):
        told = {"SEARX_MCP_POSTGRES_URL": postgres_url, "SEARX_MCP_NAMESPACE": prefix[:-1]}
        one, other = await start("next", "this", **told, **reaching(site))
        await ingest(http, one, site.url("/1"))
        await ingest(http, other, site.url("/2"))
        for replica in (one, other):
            assert await known(http, replica) == {site.url("/1"), site.url("/2")}
        async with asyncio.TaskGroup() as group:
            rest = [site.url(path) for path in pages if path not in {"/1", "/2"}]
            tasks = [group.create_task(ingest(http, replica, *rest)) for replica in (one, other)]
            await site.wait_for_requests(4)
            await one.end(signal.SIGKILL)
        assert tasks[1].result() == 200
        await one.start()
        for replica in (one, other):
            assert await known(http, replica) == {*site.links}
            answer = await http.post(
                f"{replica.url}/v1/corpus/search", json={"query": "what does colony 7 store?"}
            )
            assert facts[7] in answer.text


async def ingest(http: httpx2.AsyncClient, replica: Replica, *urls: str) -> int:
    try:
        answer = await http.post(f"{replica.url}/v1/corpus/ingest", json={"url": urls})
    except httpx2.TransportError:
        return 0
    return answer.status_code


async def known(http: httpx2.AsyncClient, replica: Replica) -> set[str]:
    """The pages of the corpus."""
    status = (await http.get(f"{replica.url}/v1/corpus")).json()
    return {page["url"] for page in status["urls"]}


async def test_one_that_is_killed_under_load_takes_with_it_its_own_calls_alone(
    start, http, gate, own
):
    async with asyncio.timeout(PATIENCE):
        doomed, other = await start("this", "next", **using(own))
        async with Balancer(doomed, other) as balancer:
            loads = [Load(http, url, 6) for url in (other.url, balancer.url)]
            for load in loads:
                await load.until_answered(20)
            gate.close()
            await gate.until_waiting(12)
            loads.append(Load(http, balancer.url, 4))  # of which two are at each
            await gate.until_waiting(16)
            under_way = balancer.carried[doomed.port]
            await doomed.end(signal.SIGKILL)
            gate.open()
            await loads[0].until_answered(20)
            await loads[-1].until_answered(20)
            for load in loads:
                await load.end()
    at_other, *balanced = [load.ends for load in loads]
    assert at_other.keys() == {200}
    ends = sum(balanced, Counter[int]())
    assert ends.keys() == {0, 200}
    assert ends[0] <= under_way


async def test_one_that_is_told_to_end_answers_what_it_was_asked(start, http, gate, own):
    async with asyncio.timeout(PATIENCE):
        ending, other = await start("this", "next", **using(own))
        async with Balancer(ending, other) as balancer, asyncio.TaskGroup() as group:
            gate.close()
            queries = [f"bees {number}" for number in range(10)]
            calls = (search(http, balancer.url, query) for query in queries)
            ends = group.create_task(statuses(*calls))
            await gate.until_waiting(10)
            ending.signal(signal.SIGTERM)
            await ending.until_refusing()
            gate.open()
    assert {*ends.result()} == {200}


async def test_a_replica_that_is_told_to_end_under_load_loses_no_call(start, http, own):
    async with asyncio.timeout(PATIENCE):
        ending, other = await start("next", "this", **using(own))
        async with Balancer(ending, other) as balancer:
            load = Load(http, balancer.url, 6)
            await load.until_answered(20)
            said = await ending.end(signal.SIGTERM)
            assert "Traceback" not in said
            await load.until_answered(20)
            await load.end()
    assert load.ends.keys() == {200}


@pytest.mark.skipif(
    shutil.which("nginx") is None, reason="nginx is missing; install it: apt-get install nginx"
)
async def test_behind_nginx_as_the_guide_has_it_no_client_notices_that_all_are_replaced(
    start, http, own, tmp_path, unused_port
):
    """Among them are clients of both eras, each in one session all the time."""
    (drain,) = re.findall(
        r"SEARX_MCP_HTTP__DRAIN=(\d+)", (GUIDES / "scaling.md").read_text("utf-8")
    )
    told = {
        "SEARX_MCP_HTTP__DRAIN": drain,
        "SEARX_MCP_HTTP__PROXIES": '["127.0.0.1"]',
        "SEARX_MCP_HTTP__ALLOWED_HOSTS": '["127.0.0.1"]',
        **using(own),
    }
    ends: Counter[str] = Counter()
    own.slow(0.2)  # calls come all the time, but leave the processor to whoever starts
    async with asyncio.timeout(2 * PATIENCE):
        replicas = await start("this", "this", "this", **told)
        async with nginx(tmp_path, unused_port(), *replicas) as url:
            load = Load(http, url, 1)
            is_over = asyncio.Event()

            async def call(mode: str) -> None:
                async with connected(f"{url}/mcp", mode=mode) as client:
                    for number in count():
                        result = await client.call_tool("web_search", {"query": f"{mode} {number}"})
                        ends[f"{mode} {result.is_error}"] += 1
                        if is_over.is_set():
                            return

            async with asyncio.TaskGroup() as group:
                for mode in ("auto", "legacy"):
                    group.create_task(call(mode))
                for replica in replicas:
                    await load.until_answered(5)
                    said = await replica.end(signal.SIGTERM)
                    assert "Traceback" not in said
                    await replica.start("next")
                await load.until_answered(5)
                is_over.set()
            await load.end()
    assert load.ends.keys() == {200}
    assert ends.keys() == {"auto False", "legacy False"}

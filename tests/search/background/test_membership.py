"""Who belongs to the pool, and that what it learned outlives a process."""

import asyncio
import random
from functools import partial
from pathlib import Path

import pytest
from typing_extensions import override

from searx_mcp import SearxClient
from searx_mcp.errors import NoInstancesError, SettingsError, UnavailableReason
from searx_mcp.models.attempt import Format, Verdict
from searx_mcp.models.instance import Catalog, CatalogEntry, InstanceChoice
from searx_mcp.pool.catalog import gate
from searx_mcp.pool.config import InstancesConfig, PublicInstances
from searx_mcp.pool.config_facts import ConfigFacts
from searx_mcp.pool.pool import InstancePool
from searx_mcp.pool.proposal import Outcome
from searx_mcp.pool.record import OPTED_OUT
from searx_mcp.search.background.membership import (
    PoolMembership,
    StateSync,
    read_bundled,
    read_catalog,
)
from searx_mcp.storage.sqlite_state import FILE_NAME, open_store
from searx_mcp.testing.clock import FakeClock
from searx_mcp.testing.searxng import FakeSearxng
from tests.doubles.raised import raised

PULL_INTERVAL = 15.0

LISTED = ("https://a.example/", "https://b.example/")
MINE = "http://10.0.0.1/"
ADDED = "http://10.0.0.2/"


def catalog_of(*urls: str) -> Catalog:
    return Catalog.model_validate(
        {
            "listed_at": "2026-08-05T00:00:00Z",
            "instances": [CatalogEntry(url=url, tls_grade="A") for url in urls],
        }
    )


class Table:
    """A membership with its pool, and what the session for own instances was told."""

    def __init__(self, choices=None, **instances) -> None:
        self.pool = InstancePool(rng=random.Random(1))
        self.told: list[tuple[str, ...]] = []
        self.membership = PoolMembership(
            self.pool,
            instances=InstancesConfig(**instances),
            catalog=catalog_of(*LISTED),
            choices=choices or {},
            admit=lambda catalog, blocked: gate(catalog, min_grade="B", blocked=blocked),
            admit_own=lambda own: self.told.append(tuple(own)),
        )

    @property
    def urls(self) -> set[str]:
        return {row.url for row in self.pool.snapshot(0.0)}


@pytest.mark.parametrize(
    ("public", "own", "choices", "expected"),
    [
        ("auto", [], {}, {*LISTED}),
        ("auto", [MINE], {}, {MINE}),
        ("auto", [], {InstanceChoice.OWN: [ADDED]}, {ADDED}),
        ("auto", [MINE], {InstanceChoice.OWN: [ADDED]}, {MINE, ADDED}),
        ("on", [MINE], {InstanceChoice.OWN: [ADDED]}, {MINE, ADDED, *LISTED}),
        ("off", [], {}, set()),
        ("off", [], {InstanceChoice.OWN: [ADDED]}, {ADDED}),
    ],
    ids=["neither", "setting", "choice", "both", "on", "off", "off, choice"],
)
def test_public_instances_are_asked_as_both_sources_of_own_ones_say(public, own, choices, expected):
    assert Table(choices, public=PublicInstances(public), own=tuple(own)).urls == expected


def test_what_is_blocked_leaves_and_what_is_unblocked_comes_back_from_the_list():
    it = Table(blocked=("b.example",))
    assert it.urls == {LISTED[0]}
    it.membership.choose({InstanceChoice.BLOCKED: ["a.example"]})
    assert it.urls == set()
    it.membership.choose({})
    assert it.urls == {LISTED[0]}


def test_the_session_is_told_of_own_instances_when_they_change():
    it = Table(own=(MINE,))
    it.membership.choose({InstanceChoice.OWN: [ADDED]})
    it.membership.choose({InstanceChoice.OWN: [ADDED]})
    it.membership.choose({})
    assert it.told == [(MINE,), (MINE, ADDED), (MINE,)]


def test_a_list_that_comes_while_public_instances_are_off_is_there_when_they_come_back():
    it = Table({InstanceChoice.OWN: [ADDED]})
    it.membership.relist(catalog_of("https://c.example/"))
    assert it.urls == {ADDED}
    assert it.membership.catalog is None
    it.membership.choose({})
    assert it.urls == {"https://c.example/"}
    assert it.membership.catalog is not None


@pytest.mark.parametrize("odd", ["", "search", "https://user@x.example/", "ftp://x/", "https://x"])
def test_a_choice_that_is_no_base_url_is_passed_over(odd):
    it = Table({InstanceChoice.OWN: [odd]})
    assert (it.urls, it.membership.own) == (set(LISTED), ())


ROOT = Path(__file__).resolve().parents[3]


def test_the_bundled_list_is_the_one_of_the_repository():
    assert read_bundled() == (ROOT / "instances.json").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "place", ["site/searx_mcp/instances.json", "site/instances.json"], ids=["wheel", "editable"]
)
def test_the_bundled_list_is_found_in_and_beside_the_package(place, tmp_path):
    package = tmp_path / "site" / "searx_mcp"
    package.mkdir(parents=True)
    (tmp_path / place).write_text("the list", encoding="utf-8")

    assert read_bundled(package) == "the list"


def test_an_installation_without_the_list_says_so(tmp_path):
    with pytest.raises(SettingsError, match="missing from this installation"):
        read_bundled(tmp_path / "searx_mcp")


@pytest.mark.parametrize("path", ["{home}/list.json", "~/list.json"])
def test_a_configured_list_is_read_in_the_home_directory_too(path, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    (tmp_path / "list.json").write_text("grüße", encoding="utf-8")
    assert read_catalog(path.format(home=tmp_path)) == "grüße"


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        pytest.param("missing.json", "No such file", id="missing"),
        pytest.param("folder", "directory", id="a-folder"),
        pytest.param("latin1.json", "not UTF-8", id="not-utf-8"),
        pytest.param("nul\0.json", "not a usable path", id="nul-in-the-name"),
    ],
)
def test_an_unreadable_configured_list_is_refused_in_a_sentence(name, reason, tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "latin1.json").write_bytes("grüße".encode("latin-1"))

    with pytest.raises(SettingsError) as caught:
        read_catalog(str(tmp_path / name))

    assert caught.value.field == "instances.catalog"
    assert reason in caught.value.message


@pytest.fixture
def another_process(settings_for, catalog_of, tmp_path):
    """Make clients that share nothing but the file."""

    def make(clock: FakeClock, *fakes: FakeSearxng) -> SearxClient:
        return SearxClient(
            settings_for(*fakes, search={"attempt_timeout": 10}),
            catalog=catalog_of(*fakes),
            state=open_store(tmp_path / FILE_NAME),
            clock=clock,
            rng=random.Random(1),
        )

    return make


async def test_a_limit_is_remembered_by_the_next_process(another_process):
    clock = FakeClock()
    async with FakeSearxng(status=429) as limited, FakeSearxng() as good:
        async with another_process(clock, limited, good) as first:
            await first.search("one", fetch_content=False)
        clock.advance(60)
        async with another_process(clock, limited, good) as second:
            await second.search("two", fetch_content=False)
            report = await second.instances()
    assert limited.searches == 1
    rows = {row.url: row for row in report.instances}
    assert rows[limited.url].state == "rate_limited"
    assert (rows[limited.url].last_verdict, rows[good.url].successes) == ("rate_limited", 2)


async def test_a_budget_is_shared_by_processes(another_process):
    clock = FakeClock()
    async with FakeSearxng() as only:
        async with another_process(clock, only) as first, another_process(clock, only) as second:
            await first.search("one", fetch_content=False)
            error = await raised(NoInstancesError, second.search("two", fetch_content=False))
    assert error.reason is UnavailableReason.BUDGET_SPENT
    assert only.searches == 1


async def test_news_of_other_processes_arrive_while_one_is_running(another_process):
    clock = FakeClock()
    async with FakeSearxng() as bad, FakeSearxng() as good:
        async with another_process(clock, bad, good) as first:
            await first.instances()
            bad.limit()
            async with another_process(clock, bad, good) as second:
                await second.search("one", fetch_content=False)
            clock.advance(PULL_INTERVAL)
            states = {row.url: row.state for row in (await first.instances()).instances}
    assert states[bad.url] == "rate_limited"


async def test_older_news_do_not_undo_what_was_learned_here(another_process):
    clock = FakeClock()
    async with FakeSearxng() as only:
        async with another_process(clock, only) as first, another_process(clock, only) as second:
            await first.search("one", fetch_content=False)
            clock.advance(40)
            only.limit()
            await raised(NoInstancesError, second.search("two", fetch_content=False))
            await first.aclose()
            report = await second.instances()
    assert report.instances[0].state == "rate_limited"


ANSWER = Outcome(Verdict.FULL, Format.JSON, 0.5, status_code=200)
LIMIT = Outcome(Verdict.RATE_LIMITED, Format.HTML, 0.5, status_code=429)
FACTS = ConfigFacts(version="2026.1")


def _answered(pool: InstancePool, outcome: Outcome, now: float) -> None:
    pool.begin(MINE, now)
    pool.report(MINE, outcome, now)


@pytest.mark.parametrize(
    ("earlier", "later", "known"),
    [
        (partial(_answered, outcome=ANSWER), "check", {"successes": 1, "state": "healthy"}),
        (partial(_answered, outcome=LIMIT), "check", {"failures": 1, "state": "rate_limited"}),
        (partial(_answered, outcome=LIMIT), "facts", {"facts": FACTS, "state": "rate_limited"}),
        ("facts", partial(_answered, outcome=ANSWER), {"facts": FACTS, "successes": 1}),
    ],
    ids=["an answer, a check", "a limit, a check", "a limit, facts", "facts, an answer"],
)
async def test_what_a_process_learns_does_not_hide_what_another_has_learned(
    earlier, later, known, tmp_path
):
    learn = {
        "check": partial(InstancePool.probed, url=MINE, alive=True),
        "facts": partial(InstancePool.learn_facts, url=MINE, facts=FACTS),
    }
    clock = FakeClock()
    pools = [InstancePool(own=[MINE], rng=random.Random(1)) for _ in range(3)]
    stores = [open_store(tmp_path / FILE_NAME) for _ in pools]
    syncs = [StateSync(pool, store, clock) for pool, store in zip(pools, stores, strict=True)]
    for process, step in enumerate((earlier, later)):
        clock.advance(1)
        learn.get(step, step)(pools[process], now=clock())
        await syncs[process].push()
    for pool, store, sync in zip(pools, stores, syncs, strict=True):
        await sync.pull(at_once=True)
        await store.aclose()
        record = pool.record_of(MINE)
        assert {name: getattr(record, name) for name in known} == known


async def test_a_file_that_cannot_be_used_is_told_and_no_search_fails(
    settings_for, catalog_of, tmp_path
):
    blocked = tmp_path / "no folder"
    blocked.touch()
    async with FakeSearxng() as good:
        client = SearxClient(
            settings_for(good), catalog=catalog_of(good), state=open_store(blocked / FILE_NAME)
        )
        async with client:
            response = await client.search("one", fetch_content=False)
            report = await client.instances()
    assert response.results
    assert any(str(blocked) in note for note in report.notes)


async def test_what_the_user_chose_elsewhere_takes_effect_at_the_next_recall(another_process):
    clock = FakeClock()
    async with FakeSearxng() as public, FakeSearxng(formats=("json", "html")) as own:
        async with (
            another_process(clock, public) as server,
            another_process(clock, public) as command,
        ):
            await server.search("one", fetch_content=False)
            await command.admin.add(own.url)
            clock.advance(PULL_INTERVAL - 1)
            assert [row.url for row in (await server.instances()).instances] == [public.url]
            clock.advance(1)
            found = await server.search("two", fetch_content=False)
            assert found.instance_used == own.url, "its origin is admitted, and public ones are off"
            await command.admin.remove(own.url)
            await command.admin.block(public.url)
            clock.advance(PULL_INTERVAL)
            assert (await server.instances()).instances == ()
            await command.admin.unblock(public.url)
            clock.advance(PULL_INTERVAL)
            rows = (await server.instances()).instances
    assert [(row.url, row.successes) for row in rows] == [(public.url, 1)]


async def test_a_reset_reaches_running_servers_and_leaves_the_charges(another_process):
    clock = FakeClock()
    async with FakeSearxng() as only:
        only.limit()
        async with another_process(clock, only) as server, another_process(clock, only) as command:
            await raised(NoInstancesError, server.search("one", fetch_content=False))
            await command.admin.reset(only.url)
            assert (await server.instances()).instances[0].state == "rate_limited"
            clock.advance(PULL_INTERVAL)
            (row,) = (await server.instances()).instances
            assert (row.state, row.failures, row.reason) == ("new", 0, "")
            budget = await server.admin.budget()
    assert budget.instances[0].spent == 1, "a charge stays"


async def test_what_is_learned_right_after_a_reset_is_kept(another_process):
    clock = FakeClock()
    async with FakeSearxng() as only:
        async with another_process(clock, only) as server, another_process(clock, only) as command:
            await command.admin.reset(only.url)
            only.limit()
            clock.advance(2)
            await raised(NoInstancesError, server.search("one", fetch_content=False))
            clock.advance(PULL_INTERVAL)
            (row,) = (await server.instances()).instances
            assert (row.state, row.failures) == ("rate_limited", 1)


NAMES_US = b"User-agent: searx-mcp\nDisallow: /\n"


class Gate(FakeSearxng):
    """An instance that answers searches when it is told to."""

    def __init__(self) -> None:
        super().__init__()
        self.searched, self.opened = asyncio.Event(), asyncio.Event()

    @override
    async def respond(self, request, received):
        if received.path == "/search":
            self.searched.set()
            await self.opened.wait()
        return await super().respond(request, received)


async def test_a_wish_to_be_left_alone_outlives_an_answer_that_another_process_was_waiting_for(
    another_process,
):
    clock = FakeClock()
    async with Gate() as only, another_process(clock, only) as witness:
        await witness.instances()
        async with another_process(clock, only) as second:
            async with another_process(clock, only) as first, asyncio.TaskGroup() as group:
                search = group.create_task(first.search("one", fetch_content=False))
                await only.searched.wait()
                only.answer_with(NAMES_US, path="/robots.txt")
                clock.advance(60)  # the budget allows one search in 30 s
                await raised(NoInstancesError, second.search("two", fetch_content=False))
                clock.advance(1)
                only.opened.set()
            assert search.result().results
            clock.advance(60)
            await _is_left_alone_by(second)
        # What a process learned is kept behind its answers, and surely once it has ended.
        clock.advance(60)
        await _is_left_alone_by(witness)
    assert only.searches == 1


async def test_a_wish_to_be_left_alone_outlives_who_has_read_it(another_process):
    clock = FakeClock()
    async with Gate() as only:
        async with another_process(clock, only) as first, asyncio.TaskGroup() as group:
            search = group.create_task(first.search("one", fetch_content=False))
            await only.searched.wait()
            only.answer_with(NAMES_US, path="/robots.txt")
            clock.advance(60)
            async with another_process(clock, only) as second:
                await raised(NoInstancesError, second.search("two", fetch_content=False))
            clock.advance(1)
            only.opened.set()
        assert search.result().results
        only.recover()
        async with another_process(clock, only) as third:
            await _is_left_alone_by(third)


async def _is_left_alone_by(client: SearxClient) -> None:
    await raised(NoInstancesError, client.search("three", fetch_content=False))
    (row,) = (await client.instances()).instances
    assert (row.state, row.reason) == ("quarantined", OPTED_OUT)

"""Looking after the pool, against real instances on loopback."""

import json
import random

import pytest

from searx_mcp import SearxClient
from searx_mcp.errors import InvalidArgumentError, NoInstancesError, StorageError
from searx_mcp.models.administration import MemberReason
from searx_mcp.models.attempt import Format, Verdict
from searx_mcp.models.instance import InstanceChoice, InstanceState, SortKey
from searx_mcp.ops.instance_reports import Selection
from searx_mcp.pool.record import InstanceRecord
from searx_mcp.storage.memory import MemoryStore
from searx_mcp.storage.sqlite_state import FILE_NAME, open_store
from searx_mcp.testing.clock import FakeClock
from searx_mcp.testing.searxng import FakeSearxng
from searx_mcp.testing.web import FakePage, FakeWeb

LIST = "/instances.json"
TODAY = 1_795_000_000.0


@pytest.fixture
def clock():
    return FakeClock(TODAY)


@pytest.fixture
def client_of(settings_for, catalog_of, clock):
    """Make clients of public instances, and of own ones of the settings."""

    def make(*public, own=(), state=None, **tables) -> SearxClient:
        return SearxClient(
            settings_for(*public, *own, own=own, **tables),
            catalog=catalog_of(*public),
            state=state,
            clock=clock,
            rng=random.Random(1),
        )

    return make


async def test_the_list_shows_success_latency_and_what_would_be_asked_for(client_of):
    async with FakeSearxng() as good, FakeSearxng(status=500) as bad:
        async with client_of(good, bad) as client:
            before = (await client.admin.list()).instances[0]
            await client.search("one", fetch_content=False)
            report = await client.admin.list(Selection(sort=SortKey.HOST))
    assert (before.success, before.p50, before.p95) == (None, None, None)
    rows = {row.url: row for row in report.instances}
    row = rows[good.url]
    assert row.success == 1.0
    assert row.p50 is not None
    assert row.p50 == row.p95
    assert row.format is Format.HTML
    assert row.budget_left == 0
    assert list(rows) == sorted(rows)


async def test_one_instance_is_shown_with_everything_known_of_it(client_of, clock):
    async with FakeSearxng(link_token=True) as fake, client_of(fake) as client:
        await client.search("a secret", fetch_content=False)
        clock.advance(31)
        fake.limit()
        with pytest.raises(NoInstancesError):
            await client.search("another secret", fetch_content=False)
        await client.admin.check([fake.url])
        shown = await client.admin.show(fake.url)
    assert shown.source is MemberReason.LIST
    assert shown.listed is not None
    assert [past.verdict for past in shown.outcomes] == [Verdict.RATE_LIMITED, Verdict.FULL]
    assert [past.at for past in shown.outcomes] == [TODAY + 31, TODAY]
    assert shown.timers.waits_until is not None
    assert shown.timers.robots_read_at is not None
    month = [window for window in shown.windows if window.seconds == 30 * 86_400]
    assert [(window.limit, window.spent) for window in month] == [(3, 2)]
    assert shown.config is not None
    assert shown.config.limiter is True
    assert "secret" not in shown.model_dump_json()


async def test_an_own_instance_has_no_windows_and_says_where_it_comes_from(client_of):
    async with FakeSearxng() as mine, FakeSearxng() as added, client_of(own=[mine]) as client:
        await client.admin.add(added.url)
        shown = [await client.admin.show(fake.url) for fake in (mine, added)]
    assert [each.source for each in shown] == [MemberReason.SETTINGS, MemberReason.COMMAND]
    assert shown[0].windows == ()


async def test_an_added_instance_is_asked_at_once_and_public_ones_no_more(client_of):
    async with FakeSearxng() as public, FakeSearxng(formats=("json", "html")) as own:
        async with client_of(public) as client:
            change = await client.admin.add(own.url.rstrip("/"))
            again = await client.admin.add(own.url)
            found = await client.search("one", fetch_content=False)
            removed = await client.admin.remove(own.url.split("/")[2])
            urls = [row.url for row in (await client.admin.list()).instances]
    assert (change.subject, change.changed, again.changed) == (own.url, True, False)
    assert any("Public instances are no longer used" in note for note in change.notes)
    assert found.instance_used == own.url
    assert removed.changed
    assert any("Public instances are used again" in note for note in removed.notes)
    assert urls == [public.url]
    assert not public.requests


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("", "is not an address with http:// or https:// in front"),
        ("search.example.org", "is not an address with http:// or https:// in front"),
        ("http://8.8.8.8/", "use https"),
        ("https://me:hunter2@search.example.org/", "must not contain a user name"),
        ("https://search.example.org/?q=1", "without ? and #"),
    ],
)
async def test_an_address_that_cannot_be_an_own_instance_is_refused(client_of, address, words):
    async with client_of() as client:
        with pytest.raises(InvalidArgumentError) as caught:
            await client.admin.add(address)
        assert (await client.admin.list()).instances == ()
    assert caught.value.field == "url"
    assert words in caught.value.message
    assert "hunter2" not in caught.value.message + caught.value.advice


async def test_a_public_name_by_plain_http_is_refused_when_it_is_asked(client_of):
    # Which address a name leads to is seen only then.
    async with client_of() as client:
        await client.admin.add("http://example.invalid/")
        with pytest.raises(NoInstancesError):
            await client.search("one", fetch_content=False)


async def test_a_blocked_host_is_asked_no_more_until_it_is_unblocked(client_of):
    async with FakeSearxng() as one, client_of(one) as client:
        host = "127.0.0.1"
        nobody = await client.admin.block("127.0.0.2")
        change = await client.admin.block(one.url)
        again = await client.admin.block(host)
        blocked = (await client.admin.list()).instances
        with pytest.raises(InvalidArgumentError, match=r"did you mean 127\.0\.0\.1"):
            await client.admin.unblock("127.0.0.11")
        back = await client.admin.unblock(host)
        rows = (await client.admin.list()).instances
    assert nobody.notes == (
        "The pool has no public instance at that host now (did you mean 127.0.0.1?).",
        "It lasts only as long as this process, which stores nothing.",
    )
    assert (change.subject, change.changed) == (host, True)
    assert (again.changed, back.changed) == (False, True)
    assert (blocked, [row.url for row in rows]) == ((), [one.url])


async def test_only_public_hosts_are_blocked_and_only_own_ones_removed(client_of):
    async with FakeSearxng() as own, FakeSearxng() as public:
        async with client_of(own=[own]) as client:
            with pytest.raises(
                InvalidArgumentError, match=f"'127.0.0.1:1' is the host of your own {own.url}"
            ):
                await client.admin.block("127.0.0.1:1")
            with pytest.raises(InvalidArgumentError, match="is not a host"):
                await client.admin.block("a b")
        async with client_of(public) as client:
            with pytest.raises(InvalidArgumentError, match="not one of your own"):
                await client.admin.remove(public.url)


async def test_the_reset_of_an_own_instance_speaks_of_no_budget(client_of):
    async with FakeSearxng() as own, client_of(own=[own]) as client:
        assert "budget" not in " ".join((await client.admin.reset(own.url)).notes)


async def test_a_reset_instance_is_new_and_its_budget_as_it_was(client_of, clock):
    async with FakeSearxng() as fake, client_of(fake) as client:
        fake.limit()
        with pytest.raises(NoInstancesError):
            await client.search("one", fetch_content=False)
        change = await client.admin.reset(fake.url)
        (row,) = (await client.admin.list()).instances
        shown = await client.admin.show(fake.url)
        clock.advance(31)
        fake.recover()
        response = await client.search("two", fetch_content=False)
    assert (row.state, row.failures, row.reason, row.budget_left) == (InstanceState.NEW, 0, "", 0)
    assert shown.outcomes == ()
    assert "still count against its budget" in " ".join(change.notes)
    assert response.instance_used == fake.url


async def test_what_is_learned_of_others_is_kept_after_a_reset(client_of, clock):
    state = MemoryStore()
    async with FakeSearxng() as one, FakeSearxng() as two, FakeSearxng() as new:
        async with client_of(one, two, new, state=state) as client:
            await client.admin.reset(new.url)
            await client.search("one", fetch_content=False)
            clock.advance(3)
            await client.search("two", fetch_content=False)
        records = await state.load(clock())
    assert [records[fake.url].successes for fake in (one, two, new)] == [1, 1, 0]


@pytest.fixture
def refreshing(settings_for, clock, tmp_path):
    def make(web: FakeWeb, **instances: object) -> SearxClient:
        settings = settings_for(web, instances={"source": web.url(LIST), **instances})
        return SearxClient(settings, folder=tmp_path, clock=clock, rng=random.Random(1))

    return make


async def test_a_refresh_that_fails_says_why_and_what_is_still_in_use(refreshing):
    async with FakeWeb({LIST: FakePage("gone", status=500)}) as web, refreshing(web) as client:
        refresh = await client.admin.refresh()
    assert "status 500" in refresh.problem
    assert refresh.in_pool > 20


@pytest.mark.parametrize(
    ("instances", "words"),
    [
        ({"public": "off"}, "instances.public"),
        ({"own": ["http://127.0.0.1:1"]}, "you have your own"),
        ({"source": ""}, "instances.source"),
    ],
    ids=["off", "own", "no source"],
)
async def test_a_list_that_is_not_wanted_is_not_fetched(refreshing, instances, words):
    async with FakeWeb({LIST: FakePage("{}")}) as web, refreshing(web, **instances) as client:
        refresh = await client.admin.refresh()
        assert words in refresh.problem
        assert not web.requests


async def test_an_export_is_taken_over_elsewhere_and_nothing_newer_is_lost(client_of, tmp_path):
    here, there = open_store(tmp_path / FILE_NAME), MemoryStore()
    async with FakeSearxng() as one, FakeSearxng() as own:
        newer = InstanceRecord(url="https://n.example/", last_at=TODAY - 1, successes=7)
        await there.save({newer.url: newer}, TODAY)
        await here.save({newer.url: newer.model_copy(update={"last_at": TODAY - 9})}, TODAY)
        async with client_of(one, state=here) as client:
            await client.search("one", fetch_content=False)
            await client.admin.add(own.url)
            await client.admin.block("b.example")
            exported = (await client.admin.export()).model_dump_json()
        async with client_of(one, state=there) as client:
            imported = await client.admin.import_(exported)
            again = await client.admin.import_(exported)
            urls = [row.url for row in (await client.admin.list()).instances]
    assert (imported.added, imported.blocked) == ((own.url,), ("b.example",))
    assert (imported.learned, imported.known) == (1, 1)
    assert (again.added, again.blocked, again.learned, again.known) == ((), (), 0, 2)
    assert urls == [own.url]
    records = await there.load(TODAY)
    assert (records[newer.url].successes, records[one.url].successes) == (7, 1)
    assert "charges" not in exported


async def test_an_import_never_lowers_charges(client_of):
    state = MemoryStore()
    async with FakeSearxng() as one, client_of(one, state=state) as client:
        before = (await client.admin.export()).model_dump_json()
        await client.search("one", fetch_content=False)
        await client.admin.import_(before)
        (row,) = (await client.admin.list()).instances
    assert (row.successes, row.budget_left) == (1, 0)


async def test_what_the_settings_hold_is_not_chosen_by_an_import(client_of):
    state = MemoryStore()
    async with FakeSearxng() as own, client_of(own=[own], state=state) as client:
        text = json.dumps({"schema_version": 1, "choices": {"own": [own.url]}})
        assert (await client.admin.import_(text)).added == ()
    assert (await state.choices())[InstanceChoice.OWN] == ()


async def test_the_ledger_tells_what_is_spent_and_when_it_is_dry(client_of, clock):
    async with FakeSearxng(link_token=True) as one, FakeSearxng() as own, client_of(one) as client:
        for _ in range(2):
            await client.admin.test(one.url, "x")
            clock.advance(31)
        ledger = await client.admin.budget()
        await client.admin.add(own.url)
        without = await client.admin.budget()
    (line,) = ledger.instances
    assert (line.name, line.spent, line.left, line.limit) == (one.url, 2, 1, 3)
    assert (line.pace, line.free_at) == (0.29, None)
    assert line.dry_at is not None
    assert (line.dry_at - ledger.at).total_seconds() == 3.75 * 86_400
    assert ledger.month is not None
    assert (ledger.month.name, ledger.month.spent, ledger.month.left) == ("public", 2, 0)
    assert ledger.month.dry_at == ledger.at
    assert (without.instances, without.month) == ((), None)


async def test_a_choice_that_cannot_be_kept_is_refused(client_of, tmp_path):
    (tmp_path / "file").touch()
    state = open_store(tmp_path / "file" / FILE_NAME)
    async with FakeSearxng() as own, client_of(state=state) as client:
        with pytest.raises(StorageError, match="cannot be written"):
            await client.admin.add(own.url)
        ledger = await client.admin.budget()
        assert not (await client.admin.list()).instances
    assert "only as long as this process" in ledger.notes[-1]

"""The list of public instances: fetched conditionally, guarded, kept, and never in the way."""

import asyncio
import gzip
import json
import os
import random
from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from searx_mcp import SearxClient
from searx_mcp.http.config import NetworkConfig
from searx_mcp.http.sessions import Sessions
from searx_mcp.models.instance import Catalog
from searx_mcp.pool.catalog import parse_catalog
from searx_mcp.search.background import discovery
from searx_mcp.search.background.discovery import FILE_NAME, Discovery
from searx_mcp.storage.memory import MemoryStore
from searx_mcp.testing.clock import FakeClock
from searx_mcp.testing.web import FakePage, FakeWeb, broken, drip, gzip_bomb, huge, redirect, silent
from searx_mcp.urls.address import AllowList

GUARD_DAYS = 30
INTERVAL = 43_200.0
JITTER = 0.1
MAX_BYTES = 5_000_000
MIN_USABLE = 10
RETRY_INTERVAL = 3_600.0
IDLE = 900.0

NOW = 1_767_225_600.0
DAY = 86_400.0
PATH = "/instances.json"
ETAG = '"3b9d-61d"'
MODIFIED = "Wed, 31 Dec 2025 07:00:42 GMT"


def listing(count: int = 20, *, start: int = 0) -> dict[str, Any]:
    """A list of `count` usable instances."""
    row = {"http": {"status_code": 200}, "version": "2026.8.22+9fea41204", "network_type": "normal"}
    hosts = [f"https://s{number}.example/" for number in range(start, start + count)]
    return {"metadata": {"timestamp": 1_767_164_442}, "instances": dict.fromkeys(hosts, row)}


def page(count: int = 20, *, start: int = 0, **fields: Any) -> FakePage:
    return FakePage(json.dumps(listing(count, start=start)), "application/json", **fields)


@pytest.fixture
async def site() -> AsyncIterator[FakeWeb]:
    """The source, which lists 20 instances."""
    async with FakeWeb({PATH: page()}) as source:
        yield source


Make = Callable[..., Discovery]


@pytest.fixture
async def make(site: FakeWeb, tmp_path: Path) -> AsyncIterator[Make]:
    """Make a discovery as each process of a machine does: all share one folder."""
    async with Sessions(NetworkConfig(), allow=AllowList.parse([site.origin])) as sessions:

        def build(folder: Path | None = tmp_path, *, seed: int = 1) -> Discovery:
            rng = random.Random(seed)
            return Discovery(lambda: sessions.public, folder, rng, url=site.url(PATH))

        yield build


def names_in(folder: Path) -> list[str]:
    return [file.name for file in folder.iterdir()]


def instances(catalog: Catalog | None) -> list[str]:
    assert catalog is not None
    return [entry.url for entry in catalog.instances]


async def test_the_first_list_is_given_out_and_kept_with_all_its_figures(site, make, tmp_path):
    document = listing()
    document["instances"]["https://full.example/"] = {
        "http": {"status_code": 200, "grade": "A+"},
        "tls": {"grade": "A+"},
        "html": {"grade": "V"},
        "version": "1",
        "uptime": {"uptimeMonth": 99.9},
        "timing": {"search": {"success_percentage": 100, "all": {"value": 0.5}}},
        "engines": {"google": {}},
    }
    site.put(PATH, FakePage(json.dumps(document)))
    folder = tmp_path / "a" / "b"  # which is made
    it = make(folder)
    assert it.last_good() is None
    refreshed = await it.refresh(NOW)
    catalog = refreshed.catalog
    assert (refreshed.changed, refreshed.problem) == (True, "")
    assert catalog is not None
    assert catalog.source == "127.0.0.1 2026-01-01"
    assert catalog.listed_at == datetime(2026, 1, 1, tzinfo=UTC)
    assert catalog.measured_at == datetime(2025, 12, 31, 7, 0, 42, tzinfo=UTC)
    assert len(catalog.instances) == 21
    full = catalog.instances[-1]
    assert (full.search_latency, full.html_grade, full.engines_working) == (0.5, "V", 1 / 3)
    assert (make(folder).last_good(), names_in(folder)) == (catalog, [FILE_NAME])
    kept = json.loads((folder / FILE_NAME).read_text("utf-8"))
    assert kept["schema_version"] == 1
    assert parse_catalog(json.dumps(kept["catalog"])) == catalog


async def test_requests_say_who_we_are(site, make):
    await make().refresh(NOW)
    (request,) = site.requests
    assert request.headers["User-Agent"].startswith("searx-mcp/")
    assert request.headers["Accept"] == "application/json"
    assert "If-None-Match" not in request.headers


async def test_an_unchanged_list_is_asked_for_by_its_validators_and_confirmed(site, make):
    site.put(PATH, page(headers={"ETag": ETAG, "Last-Modified": MODIFIED}))
    first = await make().refresh(NOW)
    site.put(PATH, FakePage(status=304))
    it = make()
    it.last_good()
    for day in (1, 2):
        again = await it.refresh(NOW + day * DAY)
        assert (again.changed, again.problem) == (False, "")
        assert instances(again.catalog) == instances(first.catalog)
        assert again.catalog is not None
        assert again.catalog.listed_at == datetime(2026, 1, 1 + day, tzinfo=UTC)
        headers = site.requests[-1].headers
        assert (headers["If-None-Match"], headers["If-Modified-Since"]) == (ETAG, MODIFIED)


@pytest.mark.parametrize("etag", ["x" * 300, "caf\xe9", "a\tb"])
async def test_a_validator_that_cannot_be_sent_back_is_not_kept(etag, site, make):
    site.put(PATH, page(headers={"ETag": etag}))
    await make().refresh(NOW)
    await make().refresh(NOW + DAY)
    assert "If-None-Match" not in site.requests[1].headers


GZIPPED = {"Content-Encoding": "gzip"}


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        pytest.param(FakePage(status=404), "status 404", id="404"),
        pytest.param(page(40, status=500), "status 500", id="500"),
        pytest.param(redirect("/elsewhere", status=301), "status 301", id="redirect"),
        pytest.param(FakePage("<!DOCTYPE html>"), "not JSON", id="page"),
        pytest.param(FakePage(page().content[:-9]), "not JSON", id="cut"),
        pytest.param(FakePage(b"\xff\xfe\x00"), "not JSON", id="bytes"),
        pytest.param(FakePage('{"error": "x"}'), 'no "instances" object', id="other-json"),
        pytest.param(FakePage('{"instances": {}}'), "Only 0 of 0", id="empty"),
        pytest.param(page(9), "Only 9 of 9", id="nine"),
        pytest.param(page(19), "shrank from 40 to 19", id="less-than-half"),
        pytest.param(FakePage(headers={"Content-Encoding": "br"}), "compressed", id="encoding"),
        pytest.param(FakePage(page().content + b" " * MAX_BYTES), "size limit", id="five-megabytes"),
        pytest.param(huge(30_000_000), "size limit", id="thirty-megabytes"),
        pytest.param(gzip_bomb(50_000_000), "size limit", id="bomb"),
        pytest.param(broken(page().content, cut_after=500), "broke", id="broken"),
        pytest.param(
            FakePage(gzip.compress(page().content)[:-20], headers=GZIPPED), "ended early", id="gzip-cut"
        ),
    ],
)  # fmt: skip
async def test_a_failed_refresh_leaves_the_list_and_tells_why(answer, problem, site, make):
    site.put(PATH, page(40, headers={"ETag": ETAG}))
    it = make()
    good = await it.refresh(NOW)
    site.put(PATH, answer)
    failed = await it.refresh(NOW + DAY)
    assert failed.changed is False
    assert problem in failed.problem
    assert failed.catalog == good.catalog == make().last_good()
    assert it.due(NOW + DAY) == pytest.approx(RETRY_INTERVAL, rel=JITTER)
    await make().refresh(NOW + 2 * DAY)
    assert (len(site.requests), site.requests[2].headers["If-None-Match"]) == (3, ETAG)


@pytest.mark.parametrize(
    "answer", [silent(), drip(page().content, interval=0.01)], ids=["silent", "slow-body"]
)
async def test_a_list_that_does_not_come_in_time_is_given_up(answer, site, make, monkeypatch):
    monkeypatch.setattr(discovery, "TIMEOUT", 0.1)
    site.put(PATH, answer)
    refreshed = await make().refresh(NOW)
    assert "answer" in refreshed.problem


@pytest.mark.parametrize("status", [204, 304, 403, 500])
async def test_a_failed_first_refresh_gives_nothing(status, site, make, answers, caplog):
    answers.get(site.url(PATH), status=status, payload=listing())
    refreshed = await make().refresh(NOW)
    assert (refreshed.catalog, refreshed.changed) == (None, False)
    assert f"status {status}" in refreshed.problem
    assert "search.discovery_failed" in caplog.text
    assert make().due(NOW) > 0
    assert make().last_good() is None


@pytest.mark.parametrize(
    ("before", "after", "days", "is_taken"),
    [
        pytest.param(40, 20, 1, True, id="exactly-half"),
        pytest.param(40, 19, 1, False, id="less-than-half"),
        pytest.param(40, 19, GUARD_DAYS - 1, False, id="less-than-half-of-an-older-one"),
        pytest.param(40, 19, GUARD_DAYS, True, id="less-than-half-of-an-old-one"),
        pytest.param(40, 9, GUARD_DAYS, False, id="too-few-even-then"),
        pytest.param(MIN_USABLE, MIN_USABLE, 1, True, id="just-enough"),
    ],
)
async def test_a_list_that_shrank_is_refused(before, after, days, is_taken, site, make):
    site.put(PATH, page(before))
    it = make()
    await it.refresh(NOW)
    site.put(PATH, page(after))
    refreshed = await it.refresh(NOW + days * DAY)
    assert len(instances(refreshed.catalog)) == (after if is_taken else before)
    assert (refreshed.problem == "") is is_taken


async def test_refreshes_are_twelve_hours_apart_give_or_take_a_tenth(make, tmp_path):
    waits = []
    for seed in range(20):
        it = make(tmp_path / str(seed), seed=seed)
        assert it.due(NOW) == 0
        await it.refresh(NOW)
        waits.append(it.due(NOW))
        assert make(tmp_path / str(seed), seed=99).due(NOW) == waits[-1]
    assert all(abs(wait - INTERVAL) <= INTERVAL * JITTER for wait in waits)
    assert len(set(waits)) == 20


async def test_another_list_replaces_the_kept_one_in_every_process_for_one_request(site, make):
    first, second = make(seed=1), make(seed=2)
    await first.refresh(NOW)
    assert second.last_good() is not None
    site.put(PATH, page(start=5))
    for it in (first, second):
        refreshed = await it.refresh(NOW + DAY)
        assert (refreshed.changed, refreshed.problem) == (True, "")
        assert instances(refreshed.catalog)[0] == "https://s5.example/"
    assert len(site.requests) == 2
    assert second.due(NOW + DAY) == first.due(NOW + DAY) > 0


async def test_a_clock_put_back_makes_a_refresh_due(make):
    it = make()
    await it.refresh(NOW + 365 * DAY)
    assert it.due(NOW) == 0
    await it.refresh(NOW)
    assert it.due(NOW) == pytest.approx(INTERVAL, rel=JITTER)


async def test_without_a_folder_the_list_lives_in_memory(make, tmp_path):
    it = make(None)
    refreshed = await it.refresh(NOW)
    assert it.last_good() == refreshed.catalog is not None
    assert it.due(NOW) > 0
    assert names_in(tmp_path) == []


async def test_a_list_that_cannot_be_kept_is_used_and_said(make, tmp_path):
    (tmp_path / "file").touch()
    it = make(tmp_path / "file")
    refreshed = await it.refresh(NOW)
    assert refreshed.changed is True
    assert "could not be saved" in refreshed.problem
    assert it.last_good() == refreshed.catalog is not None
    assert it.due(NOW) > 0


async def test_a_refusal_to_replace_leaves_nothing_behind_and_the_old_file_whole(
    site, make, tmp_path, monkeypatch
):
    def refuse(self: Path, target: Path) -> Path:
        raise PermissionError(13, "Permission denied")

    it = make()
    old = await it.refresh(NOW)
    site.put(PATH, page(start=5))
    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", refuse)
        refreshed = await it.refresh(NOW + DAY)
    assert refreshed.problem == "The list could not be saved: Permission denied."
    assert names_in(tmp_path) == [FILE_NAME]
    assert make().last_good() == old.catalog
    # The unchanged file does not take the newer list away, nor does it make a refresh due.
    assert it.last_good() == refreshed.catalog
    assert it.due(NOW + DAY) == pytest.approx(INTERVAL, rel=JITTER)


@pytest.mark.parametrize(
    "content",
    [
        pytest.param("", id="empty"),
        pytest.param('{"schema_version": 1, "url": "http://127', id="cut"),
        pytest.param("\x00\x7f" * 100, id="bytes"),
        pytest.param("[]", id="list"),
        pytest.param("{}", id="object"),
        pytest.param("[" * 100_000, id="deep"),
        pytest.param('{"schema_version": 1, "url": 5}', id="wrong-type"),
        pytest.param('{"schema_version": 1, "url": "URL", "due_at": NaN}', id="nan"),
        pytest.param('{"schema_version": 1, "url": "URL", "etag": "a\\nb"}', id="etag-with-a-line"),
        pytest.param('{"schema_version": 1, "url": "URL", "catalog": {}}', id="no-catalog"),
        pytest.param(
            '{"schema_version": 1, "url": "URL", "catalog": {"instances": 5}}', id="no-instances"
        ),
        pytest.param(
            '{"schema_version": 1, "url": "URL", "catalog": {"instances": [5]}}', id="no-row"
        ),
        pytest.param(
            '{"schema_version": 1, "url": "https://other.example/", "due_at": 1767225660}',
            id="another-source",
        ),
        pytest.param(" " * MAX_BYTES + "{}", id="too-large"),
    ],
)
async def test_a_damaged_or_foreign_file_is_as_good_as_none(content, site, make, tmp_path):
    (tmp_path / FILE_NAME).write_text(content.replace("URL", site.url(PATH)), "utf-8")
    it = make()
    assert (it.last_good(), it.due(NOW)) == (None, 0)
    refreshed = await it.refresh(NOW)
    assert refreshed.problem == ""
    assert make().last_good() == refreshed.catalog is not None


async def test_a_file_of_a_newer_schema_is_left_alone(site, make, tmp_path):
    due = {"url": site.url(PATH), "due_at": NOW + 60}
    newer = json.dumps({"schema_version": 2, **due, "catalog": []})
    (tmp_path / FILE_NAME).write_text(newer, "utf-8")
    it = make()
    refreshed = await it.refresh(NOW)
    assert refreshed.problem == ""
    assert (tmp_path / FILE_NAME).read_text("utf-8") == newer
    assert it.last_good() == refreshed.catalog is not None


async def test_fields_that_a_later_version_added_are_passed_over(make, tmp_path):
    refreshed = await make().refresh(NOW)
    file = tmp_path / FILE_NAME
    kept = json.loads(file.read_text("utf-8"))
    kept["later"] = kept["catalog"]["later"] = kept["catalog"]["instances"][0]["later"] = 1
    file.write_text(json.dumps(kept), "utf-8")
    assert make().last_good() == refreshed.catalog


@pytest.mark.parametrize(
    ("answer", "count"),
    [
        pytest.param(
            FakePage(gzip.compress(page(3_000).content), headers=GZIPPED), 2_000, id="compressed"
        ),
        pytest.param(FakePage(page().content.ljust(MAX_BYTES)), 20, id="just under the limit"),
    ],
)
async def test_a_list_arrives_whole(answer, count, site, make):
    site.put(PATH, answer)
    refreshed = await make().refresh(NOW)
    assert (refreshed.problem, len(instances(refreshed.catalog))) == ("", count)


async def test_a_cancelled_refresh_ends_at_once_and_changes_nothing(site, make, tmp_path):
    it = make()
    good = await it.refresh(NOW)
    site.put(PATH, silent())
    async with asyncio.timeout(60), asyncio.TaskGroup() as group:
        task = group.create_task(it.refresh(NOW + DAY))
        await site.wait_for_requests(2)
        task.cancel()
    assert task.cancelled()
    assert (it.last_good(), it.due(NOW + DAY)) == (good.catalog, 0)
    assert names_in(tmp_path) == [FILE_NAME]


async def test_an_address_that_may_not_be_asked_or_a_closed_session_is_a_problem_and_no_error():
    async with Sessions(NetworkConfig()) as sessions:
        session = sessions.public
        for url in ("http://127.0.0.1/x.json", "no address"):
            it = Discovery(lambda: session, None, random.Random(1), url=url)
            assert (await it.refresh(NOW)).problem
    refreshed = await Discovery(lambda: session, None, random.Random(1)).refresh(NOW)
    assert refreshed.problem == "The connections are closed."


@pytest.fixture
def captured_lists() -> list[Path]:
    """The captured lists in the folder SEARX_MCP_CAPTURES; none without it."""
    folder = os.environ.get("SEARX_MCP_CAPTURES")
    return sorted(Path(folder).glob("searx-space-instances*.json")) if folder else []


async def test_the_captured_lists_are_taken_or_refused_as_a_whole(captured_lists, site, make):
    for file in captured_lists:
        site.put(PATH, FakePage(file.read_bytes(), "application/json"))
        refreshed = await make(None).refresh(NOW)
        if "wayback" in file.name:
            assert refreshed.problem == "Only 0 of 97 listed instances are usable."
        else:
            assert len(instances(refreshed.catalog)) > 60


TODAY = 1_795_000_000.0
NAMES = tuple(f"i{n}" for n in range(12))


def page_of(*names: str) -> FakePage:
    rows = {
        f"https://{name}.searx-test.org/": {
            "network_type": "normal",
            "http": {"status_code": 200, "grade": "A+", "error": None},
            "tls": {"grade": "A+"},
            "version": "2026.8.22+9fea41204",
            "error": None,
        }
        for name in names
    }
    body = json.dumps({"metadata": {"timestamp": 1_780_000_000}, "instances": rows})
    return FakePage(body, content_type="application/json")


@pytest.fixture
def open_client(settings_for, site, tmp_path):
    """Make clients whose list comes from a loopback site."""
    site.put(PATH, page_of(*NAMES))

    def make(clock: FakeClock, *, state=None, **instances: object) -> SearxClient:
        settings = settings_for(site, instances={"source": site.url(PATH), **instances})
        return SearxClient(
            settings, folder=tmp_path, clock=clock, state=state, rng=random.Random(1)
        )

    return make


def parts_of(client: SearxClient):
    assert client._components is not None
    return client._components


async def renew(client: SearxClient, clock: FakeClock) -> set[str]:
    parts = parts_of(client)
    assert parts.refresher is not None
    parts.activity.searched()
    await parts.refresher.renew()
    return {row.url.split("//")[1].split(".")[0] for row in (await client.instances()).instances}


async def test_a_new_list_takes_the_place_of_the_bundled_one(open_client):
    clock = FakeClock(TODAY)
    async with open_client(clock) as client:
        assert len((await client.instances()).instances) > 20
        assert await renew(client, clock) == set(NAMES)
        report = await client.instances()
    assert report.catalog_age_days == 0
    assert report.catalog_source.startswith("127.0.0.1")
    assert not report.notes


async def test_the_next_process_begins_with_the_list_that_was_kept(open_client, site):
    clock = FakeClock(TODAY)
    async with open_client(clock) as client:
        await renew(client, clock)
    async with open_client(clock) as client:
        names = {row.url for row in (await client.instances()).instances}
    assert len(names) == len(NAMES)
    assert len(site.requests) == 1


async def test_nobody_is_asked_while_nobody_searches(open_client, site):
    clock = FakeClock(TODAY)
    async with open_client(clock) as client:
        parts = parts_of(client)
        refresher = parts.refresher
        assert refresher is not None
        await refresher.renew()
        parts.activity.searched()
        clock.advance(IDLE + 1)
        await refresher.renew()
    assert site.requests == []


async def test_one_of_several_processes_asks(open_client, site):
    clock, state = FakeClock(TODAY), MemoryStore()
    site.put(PATH, FakePage("gone", status=500))
    async with open_client(clock, state=state) as one, open_client(clock, state=state) as other:
        await renew(one, clock)
        await renew(other, clock)
    assert len(site.requests) == 1


async def test_a_failing_source_leaves_the_pool_as_it_was(open_client, site):
    clock = FakeClock(TODAY)
    site.put(PATH, FakePage("not json", content_type="application/json"))
    async with open_client(clock) as client:
        before = (await client.instances()).instances
        await renew(client, clock)
        assert (await client.instances()).instances == before


@pytest.mark.parametrize(
    "instances", [{"source": ""}, {"public": "off"}, {"catalog": "given"}], ids=str
)
async def test_no_list_is_fetched_where_none_is_wanted(open_client, tmp_path, instances):
    if "catalog" in instances:
        path = tmp_path / "own.json"
        path.write_text(
            Catalog.model_validate({"listed_at": "2026-08-05T00:00:00Z"}).model_dump_json()
        )
        instances = {"catalog": str(path)}
    async with open_client(FakeClock(TODAY), **instances) as client:
        assert parts_of(client).refresher is None

"""When every instance refuses, open collections answer: over real connections to stand-ins."""

import json
import ssl
from contextlib import asynccontextmanager

import pytest
import trustme

from searx_mcp import SearxClient
from searx_mcp.errors import InvalidArgumentError, NoInstancesError, UnavailableReason
from searx_mcp.models.attempt import Verdict
from searx_mcp.models.instance import Catalog, CatalogEntry, Tier
from searx_mcp.models.response import Coverage
from searx_mcp.render.search import search_text
from searx_mcp.settings.values import Settings
from searx_mcp.sources.open.config import OpenSourcesConfig
from searx_mcp.sources.open.table import engines_of
from searx_mcp.storage.sqlite_state import open_store
from searx_mcp.storage.state import StateStore
from searx_mcp.testing.clock import FakeClock
from searx_mcp.testing.searxng import FakeSearxng
from searx_mcp.testing.web import FakeWeb
from tests.doubles.internet import FakeInternet
from tests.doubles.open_sources.documents import Document
from tests.doubles.open_sources.double import HOSTS, NOW, FakeOpenSources

SIX = ("wikipedia", "stackexchange", "hackernews", "crossref", "openverse", "commons")
INSTANCES = ("one.example.org", "two.example.org")
DOCUMENTS = [
    Document("wikipedia/red-panda", "Red panda", "The red panda is a small mammal of the Himalaya."),
    Document("wikipedia/darjeeling", "Darjeeling", "Darjeeling is a city in India."),
    Document(
        "stackexchange/asyncio-cancel", "How to cancel a task in Python asyncio",
        "Call task.cancel() and await the task.", site="stackoverflow", author="ada",
    ),
    Document(
        "hackernews/panda-browser", "Red panda browser released", "Firefox is a red panda.",
        url="https://stories.example/panda", points=120, date="2026-11-20",
    ),
    Document(
        "crossref/panda-genome", "The genome of the red panda", "We sequence Ailurus fulgens.",
        doi="10.5555/panda.1", author="Lee, A.", date="2024",
    ),
    Document(
        "openverse/panda-photo", "Red panda in a tree", kind="image", author="Kari",
        licence="CC BY 4.0", url="https://photos.example/panda", width=800, height=600,
    ),
    Document("openverse/panda-call", "Red panda call", kind="audio", author="Kari", licence="CC0 1.0",
             url="https://sounds.example/panda"),
    Document("commons/panda-film", "Red panda eating bamboo", kind="video", author="Zoo", licence="CC BY 4.0", seconds=60),
    Document("commons/panda-leaflet", "Red panda leaflet", kind="office", author="Zoo", licence="CC BY 4.0"),
]  # fmt: skip


class Stage:
    """Instances that refuse and six collections that do not, behind public names."""

    def __init__(self, fake, instances, internet, settings, clock) -> None:
        self.fake: FakeOpenSources = fake
        self.instances = instances
        self.internet: FakeInternet = internet
        self.settings: Settings = settings
        self.clock: FakeClock = clock

    def client(self, *, state: StateStore | None = None, **tables) -> SearxClient:
        merged = Settings.model_validate(
            {**self.settings.model_dump(mode="json", exclude_defaults=True), **tables}
        )
        catalog = Catalog(
            source="a test",
            listed_at=NOW,
            instances=tuple(
                CatalogEntry(url=f"https://{name}/", tls_grade="A", http_grade="A")
                for name in INSTANCES
            ),
        )
        return SearxClient(
            merged,
            catalog=catalog,
            state=state,
            clock=self.clock,
            dialling=self.internet.dialling,
        )


@pytest.fixture
async def stage(tmp_path):
    """Make the stage; every instance answers 429."""

    @asynccontextmanager
    async def make(documents=DOCUMENTS):
        hosts = [host for host, engine in HOSTS.items() if engine in SIX] + ["en.wikipedia.org"]
        authority = trustme.CA()
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        authority.issue_cert(*hosts, *INSTANCES).configure_cert(context)
        authority.cert_pem.write_to_path(tmp_path / "ca.pem")
        settings = Settings.model_validate(
            {
                "network": {"ca_file": str(tmp_path / "ca.pem")},
                "web_search": {"request_delay_range": [0, 0]},
            }
        )
        fake = FakeOpenSources(documents)
        collections = FakeWeb(
            ssl_context=context,
            otherwise=lambda got: fake.respond(f"https://{got.headers['Host']}{got.target}"),
        )
        instance = FakeSearxng(status=429, ssl_context=context)
        async with collections, instance, FakeInternet() as internet:
            for host in hosts:
                internet.host(host, collections, port=443)
            for host in INSTANCES:
                internet.host(host, instance, port=443)
            yield Stage(fake, instance, internet, settings, FakeClock(NOW.timestamp()))

    return make


@pytest.mark.parametrize(
    ("category", "query", "title"),
    [
        ("general", "red panda", "Red panda"),
        ("images", "red panda", "Red panda in a tree"),
        ("map", "Darjeeling", "Darjeeling"),
        ("it", "cancel a task in python asyncio", "How to cancel a task in Python asyncio"),
        ("science", "red panda genome", "The genome of the red panda"),
    ],
)
async def test_with_every_instance_refused_a_category_is_answered(stage, category, query, title):
    async with stage() as set_up, set_up.client() as client:
        response = await client.search(query, category=category, fetch_content=False)
    assert title in [result.title for result in response.results]
    assert response.coverage is Coverage.COLLECTIONS
    assert response.instance_used == "open sources"
    assert response.notes[0].startswith("From open collections, not from a web search engine")
    assert response.attempts[0].verdict is Verdict.RATE_LIMITED
    assert not response.attempts[0].source
    assert set(response.engines_used) <= {attempt.source for attempt in response.attempts}
    text = search_text(response, budget=6_000, boundary="")
    assert title in text
    assert "From open collections" in text


async def test_the_licence_of_a_picture_goes_with_it(stage):
    async with stage() as set_up, set_up.client() as client:
        response = await client.search("red panda", category="images", fetch_content=False)
    (picture,) = [each for each in response.results if each.title == "Red panda in a tree"]
    assert "Kari" in picture.attribution
    assert "CC BY 4.0" in picture.attribution
    assert picture.image is not None
    assert any("Openverse" in line for line in response.attribution)


async def test_when_everything_refuses_the_error_says_what_was_tried_and_when_to_come_back(stage):
    async with stage() as set_up, set_up.client() as client:
        for host in (*HOSTS, "en.wikipedia.org"):
            set_up.fake.refuse(host, headers={"Retry-After": "300"})
        with pytest.raises(NoInstancesError) as caught:
            await client.search("red panda", category="images", fetch_content=False)
    error = caught.value
    assert error.reason is UnavailableReason.EXHAUSTED
    assert error.retry_after == pytest.approx(315, abs=15)
    assert "SEARXNG_URL" in error.advice
    assert {attempt.source for attempt in error.attempts} >= {"", "openverse", "commons"}


async def test_a_collection_that_hangs_or_breaks_does_not_hold_up_the_others(stage):
    # Long enough for the time of one collection to end well before that of the search.
    async with stage() as set_up, set_up.client(search={"phase_timeout": 14}) as client:
        set_up.fake.hang("commons.wikimedia.org")
        set_up.fake.garble("archive.org")
        response = await client.search("red panda", category="images", fetch_content=False)
    assert [result.title for result in response.results] == ["Red panda in a tree"]
    reasons = {each.engine: each.reason for each in response.unresponsive_engines}
    assert "commons" in reasons


async def test_collections_or_instances_alone_can_be_asked(stage):
    async with stage() as set_up, set_up.client() as client:
        with pytest.raises(NoInstancesError):
            await client.search("red panda", source="instances", fetch_content=False)
        assert set_up.fake.requests == []
        asked = set_up.instances.searches
        response = await client.search("red panda", source="open", fetch_content=False)
    assert response.results[0].title == "Red panda"
    assert set_up.instances.searches == asked


async def test_switched_off_nobody_is_asked(stage):
    async with stage() as set_up, set_up.client(open_sources={"mode": "off"}) as client:
        with pytest.raises(NoInstancesError):
            await client.search("red panda", fetch_content=False)
        with pytest.raises(InvalidArgumentError, match="source"):
            await client.search("red panda", source="open", fetch_content=False)
        report = await client.instances()
    assert set_up.fake.requests == []
    assert all(row.tier is not Tier.OPEN for row in report.instances)


async def test_only_those_who_ask_for_the_contact_are_told_it(stage):
    contact = {"open_sources": {"contact": "me@example.org"}}
    async with stage() as set_up, set_up.client(**contact) as client:
        await client.search("red panda genome", category="science", fetch_content=False)
        await client.search("red panda", category="news", fetch_content=False)
    crossref, *_ = [url for url in set_up.fake.requests if "crossref" in url]
    assert "mailto=me@example.org" in crossref
    assert not [url for url in set_up.fake.requests if "algolia" in url and "example.org" in url]


async def test_they_are_listed_as_a_tier_of_their_own_with_what_is_left(stage):
    async with stage() as set_up, set_up.client() as client:
        await client.search("red panda", source="open", category="images", fetch_content=False)
        rows = {row.source: row for row in (await client.instances()).instances if row.source}
        details = await client.admin.show("api.openverse.org")
    assert rows.keys() == engines_of(OpenSourcesConfig()).keys()
    assert rows["openverse"].tier is Tier.OPEN
    assert rows["openverse"].budget_left == 179
    assert rows["openverse"].successes == 1
    assert rows["wikipedia"].budget_left == rows["commons"].budget_left == 1_999
    assert details.open_source is not None
    assert details.open_source.title == "Openverse"
    assert json.loads(details.model_dump_json())["open_source"]["terms_checked"] == "2026-11"


async def test_what_a_limit_taught_is_remembered_until_it_is_made_new(stage):
    images = {"source": "open", "category": "images", "fetch_content": False}
    async with stage() as set_up, set_up.client() as client:
        set_up.fake.refuse("api.openverse.org", headers={"Retry-After": "3000"})
        await client.search("red panda", **images)
        set_up.clock.advance(60)
        await client.search("red panda tree", **images)
        rested = [url for url in set_up.fake.requests if "openverse" in url]
        set_up.fake.heal("api.openverse.org")
        await client.admin.reset("api.openverse.org")
        await client.search("panda tree", **images)
    asked = [url for url in set_up.fake.requests if "openverse" in url]
    assert (len(rested), len(asked)) == (1, 2)


async def test_one_that_was_blocked_is_neither_asked_nor_listed(stage):
    async with stage() as set_up, set_up.client() as client:
        change = await client.admin.block("api.openverse.org")
        await client.search("red panda", source="open", category="images", fetch_content=False)
        listed = [row.source for row in (await client.instances()).instances]
        await client.admin.unblock("api.openverse.org")
        await client.search("panda tree", source="open", category="images", fetch_content=False)
    assert change.changed
    assert change.notes == ("It lasts only as long as this process, which stores nothing.",)
    assert "openverse" not in listed
    assert len([url for url in set_up.fake.requests if "openverse" in url]) == 1


async def test_a_server_for_places_of_ones_own_may_be_private(stage):
    place = Document(
        "photon/darjeeling", "Darjeeling", kind="place/city", latitude=27.0, longitude=88.3
    )
    fake = FakeOpenSources([place])
    mine = FakeWeb(otherwise=lambda got: fake.respond(f"https://photon.komoot.io{got.target}"))
    async with stage() as set_up, mine:
        settings = {"open_sources": {"photon_url": mine.base}}
        async with set_up.client(**settings) as client:
            response = await client.search(
                "Darjeeling", source="open", category="map", fetch_content=False
            )
    assert "photon" in response.engines_used
    assert len(mine.requests) == 1


async def test_pages_of_results_are_read_as_those_of_instances_are(stage):
    async with stage() as set_up, set_up.client(web_fetch={"verify_ssl": False}) as client:
        response = await client.search("red panda", source="open", results_count=1)
    (result,) = response.results
    assert result.url == "https://en.wikipedia.org/wiki/Red_panda"
    assert response.content_fetch_stats is not None
    assert response.content_fetch_stats.attempted == 1


async def test_a_web_index_that_was_switched_on_is_named_with_what_it_sees(stage):
    async with stage() as set_up, set_up.client(open_sources={"keenable": True}) as client:
        report = await client.instances()
    assert any("Keenable is on" in note and "every query" in note for note in report.notes)


async def test_budgets_and_rests_are_those_of_all_processes(stage, tmp_path):
    async with stage() as set_up:
        set_up.fake.refuse("commons.wikimedia.org", headers={"Retry-After": "3000"})
        images = {"source": "open", "category": "images", "fetch_content": False}
        async with set_up.client(state=open_store(tmp_path / "state.db")) as client:
            await client.search("red panda", **images)
        async with set_up.client(state=open_store(tmp_path / "state.db")) as client:
            with pytest.raises(NoInstancesError) as caught:
                await client.search("panda tree", **images)
    asked = set_up.fake.requests
    assert len([url for url in asked if "commons" in url]) == 1
    assert len([url for url in asked if "openverse" in url]) == 1
    assert "commons: in cooldown" in caught.value.message
    assert "openverse: budget" in caught.value.message

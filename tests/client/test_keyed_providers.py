"""Search APIs with a key, behind the pool or alone: over real connections to stand-ins with real shapes."""

import asyncio
import json
import logging
import ssl
from collections.abc import Awaitable
from contextlib import asynccontextmanager
from urllib.parse import parse_qsl, urlsplit

import pytest
import trustme

from searx_mcp import SearxClient
from searx_mcp.errors import InvalidArgumentError, NoInstancesError, UnavailableReason
from searx_mcp.models.attempt import Verdict
from searx_mcp.models.instance import Catalog, CatalogEntry, Tier
from searx_mcp.models.response import Coverage
from searx_mcp.render.search import search_text
from searx_mcp.settings.values import Settings
from searx_mcp.sources.open.config import ProvidersConfig
from searx_mcp.storage.sqlite_state import open_store
from searx_mcp.testing.clock import FakeClock
from searx_mcp.testing.loopback import ReceivedRequest
from searx_mcp.testing.searxng import FakeSearxng
from searx_mcp.testing.web import FakePage, FakeWeb
from tests.doubles.internet import FakeInternet

GOOGLE, BRAVE = "customsearch.googleapis.com", "api.search.brave.com"
INSTANCE = "one.example.org"
KEYS = {"google": "AIzaSyA-hunter2", "brave": "BSA-hunter2"}
GOOGLE_TABLE = {"key": KEYS["google"], "search_engine_id": "0175:omuauf_lfve"}
BOTH = {"google": GOOGLE_TABLE, "brave": {"key": KEYS["brave"]}}
JSON = "application/json; charset=UTF-8"
NOW = 1_795_000_000.0
DAY = 86_400.0
FOUND = 25
"""Results that the stand-ins have for any query."""


def reply(value: object, *, status: int = 200, **headers: str) -> FakePage:
    return FakePage(json.dumps(value), content_type=JSON, status=status, headers=headers)


def refused(status: int, reason: str, **headers: str) -> FakePage:
    errors = [{"message": "No.", "domain": "global", "reason": reason}]
    error = {"code": status, "message": "No.", "errors": errors, "details": [{"reason": reason}]}
    return reply({"error": error}, status=status, **headers)


class Apis:
    """Both APIs, as far as their documentation goes, with every request they got.

    Attributes:
        clock: of the clients; each request moves it.
        pages: what a host answers instead, first one first; the last stays.
        requests: of a host, the parameters and the key that came.
    """

    def __init__(self, clock: FakeClock) -> None:
        self.clock = clock
        self.pages: dict[str, list[FakePage]] = {}
        self.requests: dict[str, list[tuple[dict[str, str], str]]] = {GOOGLE: [], BRAVE: []}

    def count(self) -> tuple[int, int]:
        return len(self.requests[GOOGLE]), len(self.requests[BRAVE])

    def respond(self, got: ReceivedRequest) -> FakePage:
        host = got.headers["Host"]
        self.clock.advance(2)  # further than requests have to be apart
        asked = dict(parse_qsl(urlsplit(got.target).query))
        header = "X-Goog-Api-Key" if host == GOOGLE else "X-Subscription-Token"
        self.requests[host].append((asked, got.headers.get(header, "")))
        if pages := self.pages.get(host):
            return pages[0] if len(pages) == 1 else pages.pop(0)
        return self.google(asked) if host == GOOGLE else self.brave(asked)

    @staticmethod
    def google(asked: dict[str, str]) -> FakePage:
        start, count = int(asked["start"]), int(asked["num"])
        rows = [
            {"title": f"Row {n}", "link": f"https://rows.example/{n}", "snippet": asked["q"]}
            for n in range(start, min(start + count, FOUND + 1))
        ]
        more = {"nextPage": [{"startIndex": start + count}]} if start + count <= FOUND else {}
        information = {"totalResults": str(FOUND), "searchTime": 0.2}
        return reply({"queries": more, "searchInformation": information, "items": rows})

    @staticmethod
    def brave(asked: dict[str, str]) -> FakePage:
        count = int(asked["count"])
        first = int(asked["offset"]) * count + 1
        rows = [
            {"title": f"Row {n}", "url": f"https://rows.example/{n}", "description": asked["q"]}
            for n in range(first, min(first + count, FOUND + 1))
        ]
        query = {"original": asked["q"], "more_results_available": first + count <= FOUND}
        return reply({"type": "search", "query": query, "web": {"results": rows}})


class Stage:
    """An instance that refuses, and both APIs, behind their public names."""

    def __init__(self, apis: Apis, instance: FakeSearxng, internet, ca: str) -> None:
        self.apis = apis
        self.instance = instance
        self.internet = internet
        self.ca = ca
        self.clock = apis.clock

    def client(self, providers=None, *, state=None, **tables) -> SearxClient:
        settings = Settings.model_validate(
            {
                "network": {"ca_file": self.ca},
                "web_search": {"request_delay_range": [0, 0]},
                "open_sources": {"mode": "off"},
                "providers": BOTH if providers is None else providers,
                **tables,
            }
        )
        entry = CatalogEntry(url=f"https://{INSTANCE}/", tls_grade="A", http_grade="A")
        return SearxClient(
            settings,
            catalog=Catalog(source="a test", listed_at=NOW, instances=(entry,)),
            state=state,
            clock=self.clock,
            dialling=self.internet.dialling,
        )


@pytest.fixture(scope="module")
def authority(tmp_path_factory):
    """Make the authority of the certificate, and that itself."""
    folder = tmp_path_factory.mktemp("ca")
    issuer = trustme.CA()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    issuer.issue_cert(GOOGLE, BRAVE, INSTANCE).configure_cert(context)
    issuer.cert_pem.write_to_path(folder / "ca.pem")
    return context, str(folder / "ca.pem")


@pytest.fixture
def stage(authority):
    """Make the stage; the instance answers 429 unless told otherwise."""
    context, ca = authority

    @asynccontextmanager
    async def make(status: int | None = 429):
        apis = Apis(FakeClock(NOW))
        web = FakeWeb(ssl_context=context, otherwise=apis.respond)
        fake = FakeSearxng(status=status, ssl_context=context)
        async with web, fake, FakeInternet() as internet:
            internet.host(GOOGLE, web, port=443)
            internet.host(BRAVE, web, port=443)
            internet.host(INSTANCE, fake, port=443)
            yield Stage(apis, fake, internet, ca)

    return make


QUICK = {"fetch_content": False}


async def failure_of(search: Awaitable[object]) -> NoInstancesError | None:
    try:
        await search
    except NoInstancesError as error:
        return error
    return None


async def test_when_the_pool_cannot_serve_a_provider_does_and_the_answer_says_who(stage):
    async with stage() as set_up, set_up.client() as client:
        response = await client.search("red panda", **QUICK)
    assert response.results_count == 10
    assert response.instance_used == f"https://{GOOGLE}/"
    assert response.engines_used == ("google",)
    assert response.coverage is Coverage.WEB
    assert "Answered by Google Programmable Search, with your key." in response.notes
    assert [(each.source, each.verdict) for each in response.attempts] == [
        ("", Verdict.RATE_LIMITED),
        ("google", Verdict.FULL),
    ]
    assert set_up.apis.count() == (1, 0)
    ((asked, key),) = set_up.apis.requests[GOOGLE]
    assert (asked["q"], asked["cx"], key) == ("red panda", "0175:omuauf_lfve", KEYS["google"])
    assert "hunter2" not in f"{asked}"
    assert "Answered by Google" in search_text(response, budget=4_000, boundary="")


async def test_while_an_instance_serves_no_provider_is_asked(stage):
    async with stage(status=None) as set_up, set_up.client() as client:
        await client.search("red panda", **QUICK)
    assert set_up.apis.count() == (0, 0)


@pytest.mark.parametrize(
    "providers",
    [
        pytest.param({}, id="no key"),
        pytest.param({"google": {"key": "x"}}, id="no search engine"),
        pytest.param({"google": {"search_engine_id": "x"}}, id="a search engine and no key"),
        pytest.param({"mode": "off", **BOTH}, id="off"),
    ],
)
async def test_without_all_they_need_they_are_never_asked(stage, providers):
    async with stage() as set_up, set_up.client(providers) as client:
        with pytest.raises(NoInstancesError):
            await client.search("red panda", **QUICK)
        with pytest.raises(InvalidArgumentError, match="source"):
            await client.search("red panda", source="keyed", **QUICK)
        with pytest.raises(InvalidArgumentError, match="no keyed provider"):
            await client.raw_search("brave", ["red panda"])
        report = await client.instances()
    assert set_up.apis.count() == (0, 0)
    assert all(row.tier is not Tier.KEYED for row in report.instances)


@pytest.mark.parametrize(
    ("providers", "arguments"),
    [({"mode": "only", **BOTH}, {}), (BOTH, {"source": "keyed"})],
    ids=["by the settings", "by the call"],
)
async def test_they_can_be_asked_alone(stage, providers, arguments):
    async with stage(status=None) as set_up, set_up.client(providers) as client:
        response = await client.search("red panda", **arguments, **QUICK)
        assert set_up.instance.searches == 0
        await client.search("red panda", source="instances", **QUICK)
    assert response.engines_used == ("google",)
    assert set_up.instance.searches == 1


@pytest.mark.parametrize(
    ("wanted", "requests", "count"), [(1, 1, 1), (10, 1, 10), (11, 2, 11), (50, 3, FOUND)]
)
async def test_google_gives_more_by_the_page_until_there_are_no_more(
    stage, wanted, requests, count
):
    async with stage() as set_up, set_up.client() as client:
        response = await client.search("panda", source="keyed", results_count=wanted, **QUICK)
    assert set_up.apis.count() == (requests, 0)
    assert [result.url for result in response.results] == [
        f"https://rows.example/{n}" for n in range(1, count + 1)
    ]
    starts = [asked["start"] for asked, _ in set_up.apis.requests[GOOGLE]]
    assert starts == ["1", "11", "21"][:requests]
    if wanted > FOUND:
        said = f"Fewer results than asked for ({FOUND} of {wanted}): Google Programmable Search has no more."
        assert said in response.notes


async def test_the_next_page_of_a_list_is_the_providers_next_page(stage):
    async with stage() as set_up, set_up.client({"brave": BOTH["brave"]}) as client:
        first = await client.search("panda", source="keyed", **QUICK)
        more = await client.search("panda", source="keyed", offset=10, **QUICK)
        last = await client.search("panda", source="keyed", offset=20, **QUICK)
    titles = [result.title for page in (first, more, last) for result in page.results]
    assert titles == [f"Row {n}" for n in range(1, FOUND + 1)]
    assert [asked["offset"] for asked, _ in set_up.apis.requests[BRAVE]] == ["0", "1"]


async def test_what_a_caller_asks_for_reaches_them(stage):
    arguments = {"language": "de-AT", "safe_search": "strict", "time_range": "week", **QUICK}
    async with stage() as set_up, set_up.client() as client:
        await client.search("panda", source="keyed", engines=["google"], **arguments)
        await client.search("panda", source="keyed", engines=["brave"], **arguments)
    ((google, _),) = set_up.apis.requests[GOOGLE]
    ((brave, key),) = set_up.apis.requests[BRAVE]
    assert (google["lr"], google["gl"], google["safe"], google["dateRestrict"]) == (
        "lang_de", "at", "active", "w1",
    )  # fmt: skip
    assert (brave["search_lang"], brave["country"], brave["safesearch"], brave["freshness"]) == (
        "de", "AT", "strict", "pw",
    )  # fmt: skip
    assert key == KEYS["brave"]


@pytest.mark.parametrize(
    ("page", "requests", "reason"),
    [
        pytest.param(refused(400, "API_KEY_INVALID"), 1, "refused", id="wrong key"),
        pytest.param(refused(503, "backendError"), 2, "server error", id="failure"),
        pytest.param(FakePage("{", content_type=JSON), 1, "malformed", id="half an answer"),
        pytest.param(FakePage("<html>hello"), 1, "malformed", id="a page"),
        pytest.param(FakePage(b"[" * 65_536, copies=40), 1, "malformed", id="endless"),
        pytest.param(FakePage(status=301, headers={"Location": "/"}), 1, "foreign redirect", id="moved"),
        pytest.param(FakePage(b"{" * 9_000, content_type=JSON, cut_after=100), 1, "malformed", id="cut off"),
    ],
)  # fmt: skip
async def test_when_one_fails_the_other_is_asked(stage, page, requests, reason):
    async with stage() as set_up, set_up.client() as client:
        set_up.apis.pages[GOOGLE] = [page]
        response = await client.search("red panda", source="keyed", **QUICK)
    assert set_up.apis.count() == (requests, 1)
    assert response.engines_used == ("brave",)
    (missing,) = response.unresponsive_engines
    assert (missing.engine, missing.reason) == ("google", reason)


async def test_a_failure_is_tried_once_more_and_a_limit_is_not(stage):
    async with stage() as set_up, set_up.client({"google": GOOGLE_TABLE}) as client:
        set_up.apis.pages[GOOGLE] = [refused(500, "backendError"), Apis.google({"start": "1", "num": "10", "q": "x"})]  # fmt: skip
        response = await client.search("red panda", source="keyed", **QUICK)
        assert (response.results_count, set_up.apis.count()) == (10, (2, 0))
        set_up.apis.pages[GOOGLE] = [refused(429, "rateLimitExceeded", **{"Retry-After": "100"})]
        limited = await failure_of(client.search("blue panda", source="keyed", **QUICK))
        rests = await failure_of(client.search("green panda", source="keyed", **QUICK))
    assert set_up.apis.count() == (3, 0)
    assert limited
    assert rests
    assert rests.retry_after == pytest.approx(105, abs=6)
    assert "google: rate limited" in limited.message
    assert "google: in cooldown" in rests.message


async def test_a_page_that_fails_leaves_those_before_it(stage):
    first = Apis.google({"start": "1", "num": "10", "q": "x"})
    async with stage() as set_up, set_up.client({"google": GOOGLE_TABLE}) as client:
        set_up.apis.pages[GOOGLE] = [first, refused(429, "rateLimitExceeded")]
        response = await client.search("red panda", source="keyed", results_count=30, **QUICK)
    assert response.results_count == 10
    assert [each.engine for each in response.unresponsive_engines] == ["google"]


async def test_the_budget_of_a_month_lasts_over_clients_on_one_file(stage, tmp_path):
    providers = {"brave": {"key": KEYS["brave"], "per_month": 3}}
    file = tmp_path / "state.db"
    async with stage() as set_up:
        for number in range(2):
            async with set_up.client(providers, state=open_store(file)) as client:
                await client.search(f"panda {number}", source="keyed", **QUICK)
                set_up.clock.advance(DAY)
        one = set_up.client(providers, state=open_store(file))
        other = set_up.client(providers, state=open_store(file))
        async with one, other:
            async with asyncio.TaskGroup() as group:
                tasks = [
                    group.create_task(
                        failure_of(client.search(f"tea {number}", source="keyed", **QUICK))
                    )
                    for number in range(2)
                    for client in (one, other)
                ]
            failures = [error for task in tasks if (error := task.result())]
            assert set_up.apis.count() == (0, 3)
            assert len(failures) == 3
            assert {each.reason for each in failures} == {UnavailableReason.BUDGET_SPENT}
            (row,) = [row for row in (await one.instances()).instances if row.source == "brave"]
            assert (row.tier, row.budget_left) == (Tier.KEYED, 0)
            assert row.retry_after == pytest.approx(28 * DAY, abs=60)
            set_up.clock.advance(28 * DAY + 60)
            await other.search("panda again", source="keyed", **QUICK)
    assert set_up.apis.count() == (0, 4)


async def test_a_retry_and_each_page_cost_a_request_of_the_day(stage):
    providers = {"google": {**GOOGLE_TABLE, "per_day": 4}}
    async with stage() as set_up, set_up.client(providers) as client:
        set_up.apis.pages[GOOGLE] = [refused(500, "backendError"), *[Apis.google({"start": "1", "num": "10", "q": "x"})] * 2]  # fmt: skip
        await client.search("one", source="keyed", **QUICK)
        (row,) = [row for row in (await client.instances()).instances if row.source == "google"]
        assert row.budget_left == 2
        response = await client.search("two", source="keyed", results_count=40, **QUICK)
        assert response.results_count == 10
        with pytest.raises(NoInstancesError, match="google: budget"):
            await client.search("three", source="keyed", **QUICK)
        assert set_up.apis.count() == (4, 0)
        set_up.clock.advance(DAY + 1)
        await client.search("three", source="keyed", **QUICK)
    assert set_up.apis.count() == (5, 0)


async def test_raw_answers_are_given_as_they_came(stage):
    async with stage() as set_up, set_up.client() as client:
        batch = await client.raw_search("google", ["one", "two"], results_count=10)
        long = await client.raw_search("brave", ["one"], results_count=50)
    came = [json.loads(Apis.google({"start": "1", "num": "10", "q": query}).content) for query in ("one", "two")]  # fmt: skip
    assert [(each.query, each.result, each.error) for each in batch.queries] == [
        ("one", came[0], None),
        ("two", came[1], None),
    ]
    (answer,) = long.queries
    assert isinstance(answer.result, list)
    assert [page["query"]["more_results_available"] for page in answer.result] == [True, False]
    assert set_up.apis.count() == (2, 2)


async def test_a_raw_answer_that_fails_takes_no_other_with_it(stage):
    answer = Apis.google({"start": "1", "num": "10", "q": "x"})
    async with stage() as set_up, set_up.client() as client:
        set_up.apis.pages[GOOGLE] = [answer, refused(400, "badRequest")]
        batch = await client.raw_search("google", ["one", "two"])
        with pytest.raises(NoInstancesError):
            await client.raw_search("google", ["three"])
        with pytest.raises(InvalidArgumentError, match=r"googel.*google"):
            await client.raw_search("googel", ["three"])
    assert sorted(each.error is None for each in batch.queries) == [False, True]
    (failed,) = [each.error for each in batch.queries if each.error]
    assert failed.error_type == "no_instances_available"


@pytest.mark.parametrize(
    ("query", "arguments"),
    [
        pytest.param("ghp_0123456789abcdefghijklmnopqrstuvwxyz", {}, id="a secret"),
        pytest.param("red panda", {"category": "images"}, id="a category they do not have"),
        pytest.param("red panda", {"engines": ["duckduckgo"]}, id="engines of others"),
    ],
)
async def test_what_is_not_for_them_is_not_sent(stage, query, arguments):
    async with stage() as set_up, set_up.client() as client:
        for source in ("auto", "keyed"):
            with pytest.raises(NoInstancesError) as caught:
                await client.search(query, source=source, **arguments, **QUICK)
            assert query not in str(caught.value)
    assert set_up.apis.count() == (0, 0)


async def test_in_the_place_of_instances_they_leave_them_what_they_do_not_have(stage):
    async with stage(status=None) as set_up, set_up.client({"mode": "only", **BOTH}) as client:
        with pytest.raises(NoInstancesError, match="looks like"):
            await client.search("ghp_0123456789abcdefghijklmnopqrstuvwxyz", **QUICK)
        assert set_up.instance.searches == 0
        await client.search("red panda", category="images", **QUICK)
    assert (set_up.instance.searches, set_up.apis.count()) == (1, (0, 0))


async def test_one_that_was_blocked_is_not_asked(stage):
    async with stage() as set_up, set_up.client() as client:
        await client.admin.block(GOOGLE)
        await client.search("red panda", source="keyed", **QUICK)
        with pytest.raises(NoInstancesError, match="google is blocked"):
            await client.raw_search("google", ["red panda"])
    assert set_up.apis.count() == (0, 1)


async def test_no_key_is_in_an_error_a_log_or_a_report(stage, caplog):
    caplog.set_level(logging.DEBUG)
    async with stage() as set_up, set_up.client() as client:
        said = [repr(client), repr(client.settings), str(client.settings)]
        for page in (refused(400, "API_KEY_INVALID"), FakePage(b"{"), FakePage(status=302)):
            set_up.apis.pages = {GOOGLE: [page], BRAVE: [page]}
            with pytest.raises(NoInstancesError) as caught:
                await client.search(f"panda {page.status}", source="keyed", **QUICK)
            said += [str(caught.value), repr(caught.value), repr(caught.value.attempts)]
            set_up.clock.advance(2 * DAY)
        said.append((await client.instances()).model_dump_json())
        for host in (GOOGLE, BRAVE):
            said.append((await client.admin.show(host)).model_dump_json())
        del set_up.internet
    assert set_up.apis.count() >= (3, 3)
    assert "hunter2" not in "".join(said)
    assert "hunter2" not in caplog.text


CHANGES = {
    "mode": {**BOTH, "mode": "off"},
    "google.key": {**BOTH, "google": {**GOOGLE_TABLE, "key": "another"}},
    "google.search_engine_id": {**BOTH, "google": {**GOOGLE_TABLE, "search_engine_id": "another"}},
    "google.safe_search": {**BOTH, "google": {**GOOGLE_TABLE, "safe_search": "moderate"}},
    "google.per_day": {**BOTH, "google": {**GOOGLE_TABLE, "per_day": 1}},
    "google.per_month": {**BOTH, "google": {**GOOGLE_TABLE, "per_month": 1}},
    "brave.key": {**BOTH, "brave": {"key": "another"}},
    "brave.per_month": {**BOTH, "brave": {"key": KEYS["brave"], "per_month": 1}},
}


async def test_every_key_of_the_tables_changes_what_is_asked(stage):
    async def asked(providers):
        async with stage() as set_up, set_up.client(providers) as client:
            for name in ("google", "brave"):
                for query in ("one", "two"):
                    await failure_of(
                        client.search(query, engines=[name], safe_search="off", **QUICK)
                    )
        return set_up.apis.requests

    usual = await asked(BOTH)
    assert [len(requests) for requests in usual.values()] == [2, 2]
    for key, providers in CHANGES.items():
        assert await asked(providers) != usual, key


def test_every_key_of_the_tables_is_tried():
    config = ProvidersConfig()
    keys = {f"{name}.{key}" for name in ("google", "brave") for key in type(getattr(config, name)).model_fields}  # fmt: skip
    assert {"mode", *keys} == CHANGES.keys()

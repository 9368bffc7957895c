"""The dashboard as a browser without scripts sees it."""

import pytest

from searx_mcp.errors import NoInstancesError, UnavailableReason
from searx_mcp.models.instance import InstanceState, PoolReport, Tier
from searx_mcp.models.response import SearchResult
from searx_mcp.server.counters import Counters
from searx_mcp.server.dashboard.routes import CallsByMinute, throughput_facts
from searx_mcp.settings.server import ServerConfig
from searx_mcp.settings.tools import Tool
from searx_mcp.settings.values import Settings

pytestmark = pytest.mark.slow


def words_of(node) -> str:
    return " ".join(node.text(separator=" ").split())


def row_of(page, name: str) -> dict[str, str]:
    """The cells of an instance's row, by the heads of their columns."""
    for row in page.css("tbody tr"):
        if words_of(row.css_first("th")) == name:
            return {cell.attributes["data-label"]: words_of(cell) for cell in row.css("td")}
    raise AssertionError(f"no row of {name}")


@pytest.fixture
async def page(browse, read):
    """Give the dashboard as it is first seen."""
    async with browse() as client:
        return read(await client.get("/"))


async def test_the_pool_stands_there_tier_by_tier(page):
    tiers = [words_of(each) for each in page.css("main details > summary:has(h3)")]
    assert tiers == [
        "Own instances 1 of 1 usable now",
        "Public instances, tier A+ 1 of 2 usable now",
        "Public instances, tier B 0 of 1 usable now",
        "Open sources 1 of 1 usable now",
    ]
    assert "open" not in page.css_first("#tier-b").attributes


async def test_a_row_tells_the_state_the_budget_and_the_latest_requests(page):
    own = row_of(page, "127.0.0.1:8888")
    assert own["State"] == "healthy"
    assert own["Budget left"] == "no limit"
    assert own["Successes"] == "41 of 42"
    assert own["Median"] == "0.42 s"
    assert own["Available"] == "now"
    assert own["Score"].startswith("0.81 score, show its parts observed 0.90")
    picture = page.css_first("#tier-own svg")
    assert picture.attributes["role"] == "img"
    assert picture.attributes["aria-label"] == (
        "1 of the last 2 succeeded; the latest took 420 ms: full"
    )
    assert [bar.attributes["class"] for bar in picture.css("rect")] == ["failed", "good"]
    limited = row_of(page, "search.example.net")
    assert limited["State"] == "rate limited It answered 429."
    assert limited["Available"] == "in 5 min"
    assert row_of(page, "b.example")["Available"] == "never"
    assert row_of(page, "wikipedia")["Budget left"] == "2,000"


async def test_an_instance_without_any_success_is_not_called_healthy(page):
    row = row_of(page, "searx.example.org")
    assert row["State"] == "reachable Its engines did not answer."
    assert row["Successes"] == "0 of 3"


async def test_the_figures_of_the_pool_and_the_corpus_stand_on_top(page):
    names = [words_of(each) for each in page.css("#facts dt")]
    values = [words_of(each) for each in page.css("#facts dd")]
    facts = dict(zip(names, values, strict=True))
    assert facts == {
        "Usable now": "3 of 5",
        "Public searches left now": "0 (next in 3 h)",
        "Public searches left in 30 days": "180 of 240",
        "Public list": "40 days old",
        "Kept pages": "7 (90 chunks, 1.2 MB)",
        "Calls in the last hour": "0",
        "Calls since the start": "0 (0 failed)",
        "Search requests sent": "0",
    }
    assert words_of(page.css_first("#notes")) == "The list of public instances is 40 days old."
    assert words_of(page.css_first("#list")) == "Source of the public list: the bundled list"


@pytest.mark.parametrize(
    ("days", "age"), [(0, "less than a day old"), (1, "1 day old"), (2, "2 days old")]
)
async def test_the_age_of_the_public_list_is_told_in_days(browse, read, pool, days, age):
    pool.report = pool.report.model_copy(update={"catalog_age_days": days})
    async with browse() as client:
        page = read(await client.get("/"))
    assert f"Public list {age}" in words_of(page.css_first("#facts"))


async def test_what_the_server_has_done_stands_there_with_a_picture(browse, read, pool):
    async with browse() as client:
        await client.post("/v1/search", json={"query": "bees"})
        pool.failure = NoInstancesError("None", reason=UnavailableReason.EXHAUSTED)
        page = read(await client.post("/", data={"q": "bees"}))
    values = [words_of(each) for each in page.css("#facts dd")]
    assert values[-3:] == ["2", "2 (1 failed)", "0"]
    picture = page.css_first("#facts svg")
    assert picture.attributes["aria-label"] in {
        "At most 2 calls per minute",
        "At most 1 call per minute",  # a minute has ended between them
    }


async def test_an_empty_pool_is_said_to_be_empty(browse, read, pool):
    pool.report = PoolReport(instances=())
    async with browse() as client:
        page = read(await client.get("/"))
    assert "The pool is empty." in words_of(page.css_first("main"))
    for part in ("#notes", "#list"):
        assert "hidden" in page.css_first(part).attributes


async def test_a_search_shows_its_way_through_the_pool(browse, read, pool):
    async with browse() as client:
        page = read(await client.post("/", data={"q": "honey bees"}))
    assert pool.searched == ["honey bees"]
    assert page.css_first("#q").attributes["value"] == "honey bees"
    assert words_of(page.css_first("#told")) == "2 results in 540 ms, from a.example."
    assert words_of(page.css_first("#trail caption")) == "Instances asked, in order"
    assert row_of(page.css_first("#trail"), "search.example.net") == {
        "Outcome": "rate limited",
        "Format": "HTML",
        "Status": "429",
        "Rows": "0 of 0",
        "Time": "180 ms",
    }
    assert row_of(page.css_first("#trail"), "127.0.0.1:8888")["Rows"] == "2 of 3"
    links = page.css("#trail ol a")
    assert [(words_of(a), a.attributes["href"]) for a in links] == [
        ("Bees", "https://a.example/bees"),
        ("https://b.example/", "https://b.example/"),
    ]
    assert "Found by bing, mojeek" in words_of(page.css_first("#trail"))
    assert words_of(page.css_first("#trail ul")) == "A note."


async def test_a_search_that_fails_says_why_and_whom_it_asked(browse, read, pool, attempts):
    pool.failure = NoInstancesError(
        "No instance could serve", reason=UnavailableReason.EXHAUSTED, attempts=attempts[:1]
    )
    async with browse() as client:
        answer = await client.post("/", data={"q": "bees"})
        page = read(answer)
    assert answer.status_code == 503
    told = page.css_first("#told")
    assert words_of(told).startswith("No instance could serve. ")
    assert told.attributes["class"] == "failure"
    assert len(page.css("#trail tbody tr")) == 1


async def test_a_mistake_of_ours_is_not_shown(browse, read, pool, caplog):
    pool.failure = ZeroDivisionError("secret")
    async with browse() as client:
        answer = await client.post("/", data={"q": "bees"})
        page = read(answer)
    assert answer.status_code == 500
    assert "secret" not in answer.text
    assert words_of(page.css_first("#told")).startswith("An internal error occurred in searx-mcp")
    assert "server.call_failed" in caplog.text


@pytest.mark.parametrize("body", ["", "q=", "q=%20", "&".join(["a=b"] * 20), "q=%ff%00"])
async def test_a_form_of_another_kind_is_answered_with_a_page(browse, read, body):
    kind = {"Content-Type": "application/x-www-form-urlencoded"}
    async with browse() as client:
        answer = await client.post("/", content=body, headers=kind)
        page = read(answer)
    assert answer.status_code in {200, 422}
    assert page.css_first("#told")


async def test_looking_often_reads_the_pool_once(browse, pool):
    async with browse() as client:
        for _ in range(5):
            await client.get("/")
        assert pool.looks == 1
        await client.post("/", data={"q": "bees"})
        assert pool.looks == 2


async def test_a_server_without_the_tool_has_no_search_box(browse, read):
    settings = Settings(server=ServerConfig(tools=(Tool.WEB_FETCH,)))
    async with browse(settings) as client:
        page = read(await client.get("/"))
        refused = await client.post("/", data={"q": "bees"})
    assert page.css_first("#search-form") is None
    assert "Kept pages" not in words_of(page.css_first("#facts"))
    assert refused.status_code == 405


HOSTILE = '"><script>alert(1)</script><img src=x onerror=alert(2)>'


async def test_what_strangers_write_stays_text(browse, read, pool, attempts):
    row = pool.report.instances[1].model_copy(
        update={
            "url": f"https://evil.example/{HOSTILE}",
            "state": InstanceState.FAILING,
            "tier": Tier.B,
            "reason": HOSTILE * 9,
            "last_detail": HOSTILE,
            "score_parts": {HOSTILE: 1.0},
        }
    )
    pool.report = PoolReport(instances=(row,), catalog_source=HOSTILE, notes=(HOSTILE,))
    pool.results = (
        SearchResult(
            title=HOSTILE, url=f"javascript:{HOSTILE}", description=f"{HOSTILE}\ud83d", score=1.0,
            engines=(HOSTILE,),
        ),
    )  # fmt: skip
    async with browse() as client:
        page = read(await client.post("/", data={"q": HOSTILE}))
    assert page.css("img") == []
    assert [each.attributes for each in page.css("script")] == [
        {"src": "/dashboard.js", "defer": None}
    ]
    handlers = [
        name
        for node in page.css("*")
        for name in node.attributes
        if name.startswith("on") or name == "style"
    ]
    assert handlers == []
    assert {a.attributes["href"] for a in page.css("a")} == {"#main"}
    assert page.css_first("#q").attributes["value"] == HOSTILE
    assert HOSTILE in page.css_first("#trail").text()
    assert page.css_first("#tier-b-rows td small").text() == (HOSTILE * 9)[:200]


async def test_style_and_script_come_from_the_server_itself(browse):
    async with browse() as client:
        style, script = await client.get("/dashboard.css"), await client.get("/dashboard.js")
    assert style.headers["content-type"].startswith("text/css")
    assert script.headers["content-type"].startswith("text/javascript")
    assert "://" not in style.text
    assert "://" not in script.text
    assert style.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize("path", ["/", "/dashboard.css", "/dashboard.js"])
async def test_pages_and_files_are_compressed_for_browsers_that_accept_it(browse, path):
    async with browse() as client:
        packed = await client.get(path, headers={"Accept-Encoding": "gzip"})
        plain = await client.get(path, headers={"Accept-Encoding": "br"})
    assert packed.headers["content-encoding"] == "gzip"
    assert "content-encoding" not in plain.headers
    assert int(packed.headers["content-length"]) < int(plain.headers["content-length"]) / 2
    assert packed.headers["content-type"] == plain.headers["content-type"]
    assert packed.headers["vary"] == plain.headers["vary"] == "accept-encoding, origin"
    assert packed.text == plain.text


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Origin": "https://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Host": "evil.example"}, 421),
        ({"Content-Type": "text/plain"}, 415),
    ],
)
async def test_a_page_of_somebody_else_cannot_search(browse, pool, headers, status):
    async with browse() as client:
        answer = await client.post("/", data={"q": "bees"}, headers=headers)
    assert answer.status_code == status
    assert pool.searched == []


class Clock:
    now = 90_000.0

    def __call__(self) -> float:
        return self.now


def test_calls_are_counted_by_the_minute_in_which_they_end():
    clock = Clock()
    calls = CallsByMinute(clock)
    for event in ("server.call", "server.done", "server.response", "search.attempt"):
        calls(event, {})
    clock.now += 120
    calls("server.done", {})
    assert calls.latest() == [*[0] * 57, 2, 0, 1]


def test_calls_of_more_than_an_hour_ago_are_forgotten():
    clock = Clock()
    calls = CallsByMinute(clock)
    calls("server.done", {})
    clock.now += 59 * 60
    assert calls.latest()[0] == 1
    clock.now += 60
    assert sum(calls.latest()) == 0
    calls("server.done", {})
    assert len(calls._ended) == 1


def test_failures_and_shares_of_the_caches_are_those_of_the_counters():
    counters = Counters()
    for code in ("ok", "ok", "cancelled", "internal"):
        counters.calls.add("rest", "search", code)
    for result in ("fresh", "stale", "miss"):
        counters.lookups.add("answers", result)
    facts = dict(throughput_facts(counters, [0] * 60))
    assert facts["Calls since the start"] == "4 (1 failed)"
    assert facts["Searches from the cache"] == "2 of 3 (66 %)"
    assert "Pages from the cache" not in facts

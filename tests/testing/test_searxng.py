import asyncio
import json

import aiohttp
import pytest
from yarl import URL

from searx_mcp.http.robots import RobotsRules
from searx_mcp.models.hits import Fact
from searx_mcp.testing.instance.index import FakeEngine
from searx_mcp.testing.limiter import FakeLimiter
from searx_mcp.testing.results import FakeResult
from searx_mcp.testing.searxng import FakeSearxng


async def get(http: aiohttp.ClientSession, instance: FakeSearxng, path: str) -> tuple[int, str]:
    async with http.get(f"{instance.url}{path}", allow_redirects=False) as response:
        return response.status, await response.text()


@pytest.mark.parametrize(
    ("limit", "failed", "rows"),
    [
        ("", [], 10),
        ("&timeout_limit=0.05", [["alpha", "timeout"]], 10),
        ("&timeout_limit=9", [], 10),
    ],
)
async def test_a_slow_engine_is_given_its_time_or_less_if_the_caller_says_so(
    http, limit, failed, rows
):
    async with FakeSearxng(formats=("html", "json")) as instance:
        instance.slow_engine("alpha", 0.1, timeout=0.2)
        status, text = await get(http, instance, f"search?q=x&format=json{limit}")
        answer = json.loads(text)
        assert (status, answer["unresponsive_engines"]) == (200, failed)
        assert {"alpha" in row["engines"] for row in answer["results"]} <= {not failed, False}


async def test_held_requests_go_on_together(http):
    async with FakeSearxng() as instance, asyncio.TaskGroup() as group:
        instance.hold()
        tasks = [group.create_task(get(http, instance, "healthz")) for _ in range(3)]
        await instance.wait_for_requests(3)
        assert not any(task.done() for task in tasks)
        instance.recover()


async def test_everything_lives_below_the_path_prefix(http):
    async with FakeSearxng(path_prefix="searx/") as instance:
        assert instance.url == f"http://127.0.0.1:{instance.port}/searx/"
        assert instance.origin == f"127.0.0.1:{instance.port}"
        assert (await get(http, instance, "healthz"))[0] == 200
        status, page = await get(http, instance, "search?q=x")
        assert status == 200
        assert 'action="/searx/search"' in page
        assert instance.searches == 1
        async with http.get(f"{instance.base}/search?q=x") as response:
            assert response.status == 404


async def test_requests_are_recorded_in_order_with_query_form_and_headers(http):
    async with FakeSearxng() as instance:
        await get(http, instance, "search?q=a%20b&language=de")
        form = {"q": "from the form", "pageno": "2"}
        async with http.post(f"{instance.url}search?q=no&safesearch=1", data=form):
            pass
        await get(http, instance, "config")

        first, second, third = instance.requests
        assert (first.method, first.path, first.query["q"]) == ("GET", "/search", "a b")
        assert first.target == "/search?q=a%20b&language=de"
        assert first.headers["user-agent"].startswith("searx-mcp/")
        assert second.method == "POST"
        assert second.parameters == {"q": "from the form", "pageno": "2", "safesearch": "1"}
        assert third.path == "/config"
        assert instance.searches == 2


JSON = "search?q=x&format=json"
BOTH = {"formats": ("html", "json")}
ODD = [FakeResult(url) for url in ("http://[::1", "javascript:alert(1)", "")]
SURROGATE = [FakeResult("https://a.example.org/", "bad \ud800 title")]
FORM = 'class="search_endpoint"'
ERROR = '<div class="dialog-error" role="alert"><ul><li>search error</li></ul>'


@pytest.mark.parametrize(
    ("options", "path", "status", "words"),
    [
        pytest.param({}, "healthz", 200, ["OK"], id="health"),
        pytest.param({}, "nowhere", 404, [], id="no such path"),
        pytest.param({}, "clientfakesearxngtoken.css", 404, [], id="no token"),
        pytest.param({}, JSON, 403, [], id="JSON that is off"),
        pytest.param({}, "search?q=x&format=csv", 403, [], id="another format"),
        pytest.param({}, "search?q=x&format=xml", 200, ["<article"], id="an unknown format"),
        pytest.param({"formats": ("json",)}, "search?q=x", 403, [], id="HTML that is off"),
        pytest.param({"latency": 0.01}, "search?q=x", 200, ["<article"], id="slow"),
        *(
            pytest.param({"status": 503}, path, 503, [], id=f"a status for /{path}")
            for path in ("", "search?q=x", "healthz")
        ),
        *(
            pytest.param({"challenge": True}, path, 200, ["not a bot"], id=f"a challenge for /{path}")
            for path in ("", "search?q=x", "config")
        ),
        pytest.param({}, "stats/errors", 200, ["{}"], id="no engine fails"),
        pytest.param(
            {"engines_failed": True}, "stats/errors", 200, ['"beta": ', '"percentage": 100'], id="all fail"
        ),
        pytest.param({"results": ODD}, "search?q=x", 200, ["javascript:"], id="odd addresses"),
        pytest.param(
            {"results": ODD, **BOTH}, JSON, 200, ["javascript:", "http://[::1"], id="odd addresses in JSON"
        ),
        pytest.param({"results": SURROGATE}, "search?q=x", 200, ["bad ? title"], id="half a character"),
        pytest.param(
            {"results": SURROGATE, **BOTH}, JSON, 200, ["bad \\ud800 title"], id="half a character in JSON"
        ),
        *(
            row
            for name, value in {
                "pageno": "0", "pageno ": "two", "language": "xxxxx", "time_range": "hour", "safesearch": "9",
            }.items()
            for row in (
                pytest.param(
                    BOTH, f"{JSON}&{name.strip()}={value}", 400,
                    [f'{{"error": "Invalid value {value} for parameter {name.strip()}"}}'], id=f"{name} in JSON",
                ),
                pytest.param({}, f"search?q=x&{name.strip()}={value}", 400, [FORM, ERROR], id=name),
            )
        ),
        *(
            pytest.param(BOTH, f"{JSON}&timeout_limit={value}", 400, [], id=f"a limit of {value}")
            for value in ("text", "-1", "nan")
        ),
        *(
            row
            for query in ("", "q=", "q=%20")
            for row in (
                pytest.param(BOTH, f"search?format=json&{query}", 400, ['{"error": "No query"}'], id=f"JSON for {query}"),
                pytest.param({}, f"search?{query}", 200, [FORM], id=f"a form for {query}"),
            )
        ),
        *(
            pytest.param({}, f"search?q=x&safesearch=2&pageno=1&{each}", 200, ["<article"], id=each)
            for each in (
                *(f"language={code}" for code in ("all", "auto", "de", "pt-BR", "fil")),
                *(f"time_range={age}" for age in ("", "None", "day", "week", "month", "year")),
            )
        ),
    ],
)  # fmt: skip
async def test_an_instance_answers_as_it_is_set_up(http, options, path, status, words):
    async with FakeSearxng(**options) as instance:
        seen, text = await get(http, instance, path)
    assert seen == status
    assert all(word in text for word in words), text
    assert "generator" not in text or not options.get("challenge")


@pytest.mark.parametrize(
    ("options", "path", "status", "place"),
    [
        ({"redirect_to": "https://other.example.org/"}, "search?q=x", 302, "https://other.example.org/"),
        ({}, "?q=a+b", 308, "/search?q=a+b"),
    ],
)  # fmt: skip
async def test_an_instance_may_lead_elsewhere(http, options, path, status, place):
    async with (
        FakeSearxng(**options) as instance,
        http.get(f"{instance.url}{path}", allow_redirects=False) as response,
    ):
        assert (response.status, response.headers["Location"]) == (status, place)


async def test_the_later_of_two_host_faults_holds_and_may_name_a_time(http):
    async with FakeSearxng(hang=True) as instance:
        instance.fail(429, {"Retry-After": "120"})
        async with http.get(instance.url) as response:
            assert (response.status, response.headers["Retry-After"]) == (429, "120")
            assert await response.read() == b"Too Many Requests"


@pytest.mark.parametrize(
    ("options", "limits"),
    [
        pytest.param({}, (False, False, False), id="private"),
        pytest.param({"limiter": FakeLimiter()}, (True, False, False), id="limited"),
        pytest.param({"link_token": True}, (True, True, True), id="public"),
    ],
)
async def test_config_tells_version_engines_and_limiter(http, options, limits):
    async with FakeSearxng(version="2025.1.2+abc", **options) as instance:
        config = json.loads((await get(http, instance, "config"))[1])
    assert config["version"] == "2025.1.2+abc"
    limiter = config["limiter"]
    link_token = limiter["botdetection.ip_limit.link_token"]
    assert (limiter["enabled"], link_token, config["public_instance"]) == limits
    assert [engine["name"] for engine in config["engines"]] == ["alpha", "beta", "gamma"]


@pytest.mark.parametrize("prefix", ["", "searx"])
async def test_a_robots_txt_given_lies_at_the_root_of_the_origin(http, prefix: str):
    ours = "User-agent: searx-mcp"
    async with FakeSearxng(path_prefix=prefix, robots=ours) as instance:
        assert ("Disallow: /stats" in (await get(http, instance, "robots.txt"))[1]) is bool(prefix)
        async with http.get(f"{instance.base}/robots.txt") as response:
            assert await response.text() == ours
        async with http.get(f"{instance.base}/elsewhere") as response:
            assert response.status == 404
        assert (instance.requests[-2].path, instance.searches) == ("/robots.txt", 0)


ENGINES = [
    FakeEngine("alpha", ("general", "news"), time_range=False),
    FakeEngine("beta", ("general",), paging=False),
    FakeEngine("gamma", ("images",), enabled=False),
]


async def test_config_lists_the_engines_given(http):
    async with (
        FakeSearxng(engines=ENGINES) as instance,
        http.get(f"{instance.url}config") as response,
    ):
        config = await response.json()
    assert config["categories"] == ["general", "news", "images"]
    assert [
        (each["name"], each["enabled"], each["time_range_support"], each["paging"])
        for each in config["engines"]
    ] == [("alpha", True, False, True), ("beta", True, True, False), ("gamma", False, True, True)]


@pytest.mark.parametrize(
    ("query", "found"),
    [
        pytest.param("", True, id="general"),
        pytest.param("&time_range=day", True, id="one-can-do-time"),
        pytest.param("&pageno=2", True, id="one-can-page"),
        pytest.param("&pageno=2&time_range=day", False, id="none-can-do-both"),
        pytest.param("&categories=news&time_range=day", False, id="none-in-the-category"),
        pytest.param("&categories=images", False, id="not-enabled"),
        pytest.param("&categories=map", False, id="no-such-engine"),
        pytest.param("&categories=news,map", True, id="one-of-two-categories"),
    ],
)
async def test_a_search_that_no_engine_takes_finds_nothing(http, query: str, *, found: bool):
    async with FakeSearxng(engines=ENGINES) as instance:
        status, page = await get(http, instance, f"search?q=x{query}")
        assert status == 200
        assert ("<article" in page) is found


async def test_robots_txt_is_that_of_searxng_below_the_prefix(http):
    for prefix in ("", "searx"):
        async with FakeSearxng(path_prefix=prefix, limiter=FakeLimiter()) as instance:
            async with http.get(f"{instance.url}robots.txt") as response:
                text = await response.text()
                assert response.content_type == "text/plain"
            assert text.startswith("User-agent: *\n")
            assert text.endswith("Disallow: /*?*q=*\n")
            async with http.get(f"{instance.base}/robots.txt") as response:
                assert response.status == (404 if prefix else 200)
            # What the etiquette page tells operators to do.
            search = URL("http://host/search?q=x")
            assert RobotsRules(text, by_name=True).decide(search).allowed
            ours = f"User-agent: searx-mcp\n{text}"
            assert not RobotsRules(ours, by_name=True).decide(search).allowed


async def test_rows_may_lead_through_a_rewriter_or_home(http):
    results = [
        FakeResult("https://a.example.org/?x=1"),
        FakeResult("", facts=(Fact(label="a", value="1"),)),
    ]
    rewriter = "https://tracker.example.org/?to="
    async with FakeSearxng(
        results=results, rewriter=rewriter, formats=("json",), path_prefix="searx"
    ) as instance:

        async def first() -> list[str | None]:
            async with http.get(f"{instance.url}search?q=x&format=json") as response:
                return [row["url"] for row in (await response.json())["results"]]

        target = "https%3A%2F%2Fa.example.org%2F%3Fx%3D1"
        rewritten, table = await first()
        assert rewritten == f"{rewriter}{target}"
        instance.lead_home()
        assert await first() == [f"{instance.url}goto?url={target}", table]
        instance.recover()
        assert await first() == ["https://a.example.org/?x=1", table]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        pytest.param({"formats": ("html", "rss")}, "formats are html and json", id="format"),
        pytest.param({"hang": True, "status": 500}, "choose one of", id="two-faults"),
    ],
)
def test_impossible_instances_are_refused_at_construction(options, message):
    with pytest.raises(ValueError, match=message):
        FakeSearxng(**options)


async def test_a_hanging_instance_takes_the_request_and_says_nothing(http):
    async with FakeSearxng(hang=True) as instance, asyncio.TaskGroup() as group:
        caller = group.create_task(get(http, instance, "search?q=x"))
        async with asyncio.timeout(5):
            await instance.wait_for_requests(1)
        assert not caller.done()
        caller.cancel()


async def test_a_dropping_instance_breaks_the_connection(http):
    async with FakeSearxng() as instance:
        instance.drop()
        with pytest.raises(aiohttp.ClientConnectionError):
            await get(http, instance, "search?q=x")
        # aiohttp sends a GET once more when its connection breaks before the answer.
        assert instance.searches == 2


async def test_a_raw_body_replaces_searches_only(http):
    body = b'{"results": [\xff'
    async with FakeSearxng(raw_body=body, content_type="application/json") as instance:
        async with http.get(f"{instance.url}search?q=x") as response:
            assert await response.read() == body
            assert response.content_type == "application/json"
        assert (await get(http, instance, "config"))[0] == 200
        instance.answer_with(b"[]", status=500, path="/config")
        assert await get(http, instance, "config") == (500, "[]")


async def test_extra_fields_join_the_json(http):
    extra = {"number_of_results": 12345.0, "answers": ["42"]}
    async with (
        FakeSearxng(formats=("html", "json"), json_extra=extra) as instance,
        http.get(f"{instance.url}search?q=x&format=json") as response,
    ):
        answer = await response.json()
    assert (answer["number_of_results"], answer["answers"]) == (12345.0, ["42"])
    assert len(answer["results"]) == 10


async def test_limit_and_block_refuse_searches_until_recovery(http):
    async with FakeSearxng() as instance:
        instance.limit()
        assert await get(http, instance, "search?q=x") == (429, "Too Many Requests")
        assert (await get(http, instance, "config"))[0] == 200
        instance.block()
        assert (await get(http, instance, "search?q=x"))[0] == 302
        instance.recover()
        assert (await get(http, instance, "search?q=x"))[0] == 200


@pytest.mark.parametrize(
    "options",
    [
        {"status": 500},
        {"challenge": True},
        {"redirect_to": "/elsewhere"},
        {"raw_body": b""},
        {"engines_failed": True},
        {"latency": 60.0},
        {"rewriter": "https://tracker.example.org/?to="},
    ],
    ids=lambda options: next(iter(options)),
)
async def test_recover_ends_what_the_constructor_began(http, options):
    async with FakeSearxng(**options) as instance:
        instance.recover()
        status, text = await get(http, instance, "search?q=x")
        assert status == 200
        assert text.count("<article") == 10
        assert "tracker.example.org" not in text

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from urllib.parse import parse_qs, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from searx_mcp import __version__
from searx_mcp.arguments import SearchDefaults, parse_search
from searx_mcp.http.user_agents import desktop_user_agent
from searx_mcp.models.attempt import Format
from searx_mcp.models.request import MAX_ENGINES, SafeSearch, TimeRange
from searx_mcp.pool.proposal import InstanceQuery
from searx_mcp.search.searcher import instance_query
from searx_mcp.sources.searxng.request import Personas, browser, build_url, honest, neutralise
from searx_mcp.testing.instance.index import read_query
from searx_mcp.testing.limiter import FakeLimiter
from searx_mcp.testing.loopback import ReceivedRequest


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("rust async", "rust async", id="plain words stay"),
        pytest.param("!!g rust", '"!!g" rust', id="external bang"),
        pytest.param("rust !!", 'rust "!!"', id="first result"),
        pytest.param("!images cats", '"!images" cats', id="category bang"),
        pytest.param("!google_images a !ddg", '"!google_images" a "!ddg"', id="engine bangs"),
        pytest.param("!!! !!!!", '"!!!" "!!!!"', id="more than two exclamation marks"),
        pytest.param("rust!! !rust!", 'rust!! "!rust!"', id="marks on both ends"),
        pytest.param("\uff01\uff01g", "\uff01\uff01g", id="wide marks are no syntax"),
        pytest.param("'!!g' (!!g)", "'!!g' (!!g)", id="behind another sign"),
        pytest.param("?images cats", '"?images" cats', id="searx 1.1 category prefix"),
        pytest.param("hello world !", "hello world !", id="lone exclamation mark"),
        pytest.param("what is this ?", "what is this ?", id="lone question mark"),
        pytest.param("wow! really?", "wow! really?", id="marks at the end of a word"),
        pytest.param("I <3 you", 'I "<3" you', id="timeout in seconds"),
        pytest.param("<850 x", '"<850" x', id="timeout in milliseconds"),
        pytest.param("<0 <\u00b2 <\u0663", '"<0" "<\u00b2" "<\u0663"', id="any digit of Unicode"),
        pytest.param("<3.5 <-3 < 3", "<3.5 <-3 < 3", id="no whole number behind the bracket"),
        pytest.param("<div> tag <3x", "<div> tag <3x", id="angle bracket without a number"),
        pytest.param(":de wetter", '":de" wetter', id="language"),
        pytest.param(":de-AT x", '":de-AT" x', id="region"),
        pytest.param(":zh_hant_TW :EN", '":zh_hant_TW" ":EN"', id="language in any case"),
        pytest.param(":united_kingdom x", '":united_kingdom" x', id="name of a country"),
        pytest.param(":all :auto", '":all" ":auto"', id="all languages and automatic"),
        pytest.param(":français x", '":français" x', id="name of a language"),
        pytest.param("smile :) :-D :3", "smile :) :-D :3", id="faces"),
        pytest.param("a:de b!x c<3", "a:de b!x c<3", id="not at a word start"),
        pytest.param(
            "site:docs.rs -old serde", "site:docs.rs -old serde", id="operators of engines"
        ),
        pytest.param(
            "intitle:a OR b +c filetype:pdf a..b *",
            "intitle:a OR b +c filetype:pdf a..b *",
            id="more operators of engines",
        ),
        pytest.param('site:a.example "x y" !!', 'site:a.example "x y" "!!"', id="site and phrase"),
        pytest.param('"exact phrase" x', '"exact phrase" x', id="phrase"),
        pytest.param('"!!g" rust', '"!!g" rust', id="already quoted"),
        pytest.param('"say !!g now"', '"say g now"', id="live inside a phrase"),
        pytest.param('"ends with !!"', '"ends with "', id="live at the end of a phrase"),
        pytest.param('"a !! b"', '"a b"', id="nothing left inside a phrase"),
        pytest.param('!"foo bar"', '"foo bar"', id="before a phrase"),
        pytest.param('!!:de"x y"', 'de"x y"', id="stacked before a phrase"),
        pytest.param('say "hello !g', 'say "hello g', id="unclosed phrase"),
        pytest.param("rust\t!!g\u00a0x", 'rust "!!g" x', id="any white space divides words"),
        pytest.param("\u200b!!g x", '"!!g" x', id="behind an invisible character"),
        pytest.param("cafe\u0301", "café", id="NFC"),
        pytest.param("a\ud800b", "ab", id="lone surrogate"),
        pytest.param(" \u200b ", "", id="nothing visible"),
        pytest.param('!"', '"', id="syntax and a quote only"),
    ],
)
def test_neutralise_switches_off_live_words_and_keeps_the_rest(text, expected):
    assert neutralise(text) == expected


@given(st.text(st.sampled_from('!?:<"ab3 é\u200b\u0301'), max_size=30))
def test_neutralised_text_has_no_live_word_and_stays_as_it_is(text):
    neutral = neutralise(text)

    assert neutralise(neutral) == neutral
    for word in neutral.split():
        assert not (word.startswith("!") and word != "!")
        assert not (word.startswith("<") and word[1:].isdigit())
        assert not (word[0] in ":?" and word[1:2].isalpha())


@pytest.mark.parametrize(
    "base_url",
    [
        pytest.param("https://a.example/", id="root"),
        pytest.param("https://a.example", id="no slash"),
        pytest.param("https://a.example/searx/", id="prefix"),
        pytest.param("https://a.example:8443/searx", id="prefix and port without slash"),
    ],
)
def test_the_search_address_stays_under_the_path_prefix(base_url):
    url = build_url(base_url, InstanceQuery("x"), Format.HTML)

    assert url.startswith(base_url.rstrip("/") + "/search?")


def test_html_is_asked_for_with_nothing_but_what_is_set():
    url = build_url("https://a.example/", InstanceQuery("a b&c=ü"), Format.HTML)

    assert parse_qs(urlsplit(url).query) == {
        "q": ["a b&c=ü"],
        "categories": ["general"],
        "language": ["en"],
        "safesearch": ["1"],
        # Or the page would be in the language of its operator.
        "locale": ["en"],
    }


def test_json_time_range_and_further_pages_are_named():
    query = InstanceQuery(
        "x", category="news", language="auto", safe_search=0, time_range=TimeRange.WEEK, page=3
    )

    url = build_url("https://a.example/", query, Format.JSON)

    assert parse_qs(urlsplit(url).query) == {
        "q": ["x"],
        "categories": ["news"],
        "language": ["auto"],
        "safesearch": ["0"],
        "locale": ["en"],
        "time_range": ["week"],
        "pageno": ["3"],
        "format": ["json"],
    }


def test_engines_are_asked_for_instead_of_a_category():
    query = InstanceQuery("x", category="news", engines=("bing", "google images", "a&b"))

    asked = parse_qs(urlsplit(build_url("https://a.example/", query, Format.JSON)).query)

    assert asked["engines"] == ["bing,google images,a&b"]
    assert "categories" not in asked


@pytest.mark.parametrize("category", ["q&a", "social media", "scientific publications"])
def test_a_category_is_named_as_the_instance_names_it(category):
    url = build_url("https://a.example/", InstanceQuery("x", category=category), Format.HTML)

    assert parse_qs(urlsplit(url).query)["categories"] == [category]


@given(
    st.fixed_dictionaries(
        {"query": st.text(min_size=1).map(lambda text: f"x{text}")},
        optional={
            "language": st.from_regex(r"\A *[A-Za-z]{2,3}([-_][A-Za-z]{2})? *\Z")
            | st.sampled_from(["ALL", "Auto", "", None]),
            "time_range": st.sampled_from([*TimeRange, "oneDay", "no limit", "ANY", None]),
            "safe_search": st.sampled_from([*SafeSearch, True, "strict", "off", 1.0, None]),
            "engines": st.lists(st.sampled_from(["Bing", "a b"]), max_size=MAX_ENGINES),
        },
    ),
    st.integers(1, 5),
)
def test_no_request_that_is_accepted_has_a_value_an_instance_refuses(arguments, page):
    arguments["query"] = "".join(c for c in str(arguments["query"]) if c.isprintable())
    query = instance_query(parse_search(arguments, defaults=SearchDefaults()))

    url = build_url("https://a.example/", replace(query, page=page), Format.JSON)

    asked = {name: values[0] for name, values in parse_qs(urlsplit(url).query).items()}
    assert read_query(asked).page == page
    assert read_query(asked).text


@pytest.mark.parametrize(
    ("seconds", "sent"), [(None, None), (5.0, "4.70"), (0.4, "0.10"), (0.05, "0.10")]
)
def test_who_is_told_our_deadline_is_to_answer_before_it(seconds, sent):
    url = build_url("https://a.example/", InstanceQuery("x"), Format.JSON, time_limit=seconds)
    assert parse_qs(urlsplit(url).query).get("timeout_limit", [None]) == [sent]


WINDOWS = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) "
MAC = "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 (KHTML, like Gecko) "
CHROME = f"{WINDOWS}Chrome/124.0.0.0 Safari/537.36"
EDGE = f"{MAC}Chrome/120.0.0.0 Safari/537.36 Edg/120.0.0.0"
OPERA = f"{WINDOWS}Chrome/120.0.0.0 Safari/537.36 OPR/106.0.0.0"
FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0"
SAFARI = (
    "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) "
    "Version/18.1 Safari/605.1.15"
)
BROWSERS = [CHROME, EDGE, OPERA, FIREFOX, SAFARI]


def test_honest_headers_name_the_project():
    name = f"searx-mcp/{__version__} (+https://github.com/searx-mcp/searx-mcp)"
    assert honest()["User-Agent"] == name


@pytest.mark.parametrize(
    ("user_agent", "brands", "platform"),
    [
        # What these versions send, so that spelling and order are checked and not repeated.
        (CHROME, '"Chromium";v="124", "Google Chrome";v="124", "Not-A.Brand";v="99"', "Windows"),
        (EDGE, '"Not_A Brand";v="8", "Chromium";v="120", "Microsoft Edge";v="120"', "macOS"),
        (OPERA, '"Not_A Brand";v="8", "Chromium";v="120", "Opera";v="106"', "Windows"),
    ],
    ids=["chrome 124", "edge 120", "opera 106"],
)
def test_client_hints_fit_version_and_platform(user_agent, brands, platform):
    headers = browser(user_agent)

    assert (headers["sec-ch-ua"], headers["sec-ch-ua-platform"]) == (brands, f'"{platform}"')
    assert headers["sec-ch-ua-mobile"] == "?0"


def test_a_persona_is_of_one_instance_and_one_installation():
    urls = [f"https://{number}.example/" for number in range(20)]

    def agents(seed: int, asked: Iterable[str]) -> dict[str, str]:
        personas = Personas(rotate=True, seed=seed, user_agent_source=desktop_user_agent)
        return {url: personas.headers_for(url, own=False)["User-Agent"] for url in asked}

    first = agents(1, urls)
    assert agents(1, reversed(urls)) == first, "another process asks in another order"
    assert agents(2, urls) != first
    assert len(set(first.values())) > 1


@pytest.mark.parametrize(
    ("rotate", "own"),
    [(True, True), (False, True), (False, False)],
    ids=["own instance", "own instance without rotation", "without rotation"],
)
def test_own_instances_and_all_without_rotation_see_who_we_are(rotate, own):
    personas = Personas(rotate=rotate, seed=1, user_agent_source=lambda _rng: CHROME)

    assert personas.headers_for("https://a.example/", own=own) == honest()


@pytest.mark.parametrize(
    "user_agent",
    ["", "Mozilla/5.0 (X11)\r\nCookie: a=b and more", "curl/8", "Mozilla/5.0 (X11; Linüx) Gecko"],
    ids=["empty", "header injection", "no browser", "not ASCII"],
)
def test_an_unusable_user_agent_falls_back_to_honesty(user_agent):
    personas = Personas(rotate=True, seed=1, user_agent_source=lambda _rng: user_agent)

    assert personas.headers_for("https://a.example/", own=False) == honest()


# User-Agents that botdetection of SearXNG 2026.8.22 refuses, matched at the start.
REFUSED_AGENTS = re.compile(
    r"unknown|[Cc][Uu][Rr][Ll]|[wW]get|Scrapy|splash|JavaFX|FeedFetcher|python-requests"
    r"|Go-http-client|Java|Jakarta|okhttp|HttpClient|Jersey|Python|libwww-perl|Ruby|SynHttpClient"
    r"|UniversalFeedParser|Googlebot|GoogleImageProxy|bingbot|Baiduspider|yacybot|YandexMobileBot"
    r"|YandexBot|Yahoo! Slurp|MJ12bot|AhrefsBot|archive.org_bot|msnbot|SeznamBot|linkdexbot"
    r"|Netvibes|SMTBot|zgrab|James BOT|Sogou|Abonti|Pixray|Spinn3r|SemrushBot|Exabot|ZmEu|BLEXBot"
    r"|bitlybot|HeadlessChrome|Mozilla/5\.0 \(compatible; Farside/0\.1\.0;|.*PetalBot.*"
)
MODERN = ((r"chrome/(\d+)", 80), (r"firefox/(\d+)", 90), (r"version/(\d+)", 17))


def _is_modern(agent: str) -> bool:
    return any(
        int(found) >= first
        for pattern, first in MODERN
        for found in re.findall(pattern, agent.lower())
    )


def _fetch_metadata_fits(headers: Mapping[str, str], *, secure: bool) -> bool:
    sent = {name: value for name, value in headers.items() if name.startswith("Sec-Fetch-")}
    wanted = {
        "Sec-Fetch-Dest": "document",
        "Sec-Fetch-Mode": "navigate",
        "Sec-Fetch-Site": "none",
        "Sec-Fetch-User": "?1",
    }
    return sent == (wanted if secure and headers["User-Agent"].startswith("Mozilla/") else {})


def _hints_fit(headers: Mapping[str, str], *, secure: bool) -> bool:
    """Chromium's hints name its version and platform; nothing else sends any."""
    agent = headers["User-Agent"]
    chromium = re.search(r"Chrome/(\d+)", agent)
    hints = {name for name in headers if name.startswith("sec-ch-")}
    if not chromium or not secure:
        return not hints
    platform = headers["sec-ch-ua-platform"].strip('"')
    signs = {"Windows": "Windows NT", "macOS": "Macintosh", "Linux": "Linux", "Chrome OS": "CrOS"}
    return (
        f'"Chromium";v="{chromium[1]}"' in headers["sec-ch-ua"]
        and headers["sec-ch-ua"].count(";v=") == 3
        and headers["sec-ch-ua-mobile"] == "?0"
        and signs[platform] in agent
    )


LIMITER_RULES: dict[str, Callable[[Mapping[str, str], bool], bool]] = {
    "a User-Agent is sent": lambda headers, _: bool(headers["User-Agent"].strip()),
    "the User-Agent is on no list": lambda headers, _: (
        not REFUSED_AGENTS.match(headers["User-Agent"])
    ),
    "text/html is acceptable": lambda headers, _: (
        "text/html" in {item.partition(";")[0] for item in headers["Accept"].split(",")}
    ),
    "gzip or deflate stands bare": lambda headers, _: bool(
        {item.strip() for item in headers["Accept-Encoding"].split(",")} & {"gzip", "deflate"}
    ),
    "English is asked for": lambda headers, _: headers["Accept-Language"].startswith("en-US"),
    "a modern browser over https navigates": lambda headers, secure: (
        not (secure and _is_modern(headers["User-Agent"]))
        or headers.get("Sec-Fetch-Mode") in {"navigate", "cors"}
    ),
    "the connection is not closed": lambda headers, _: "Connection" not in headers,
    "privacy is asked for": lambda headers, _: headers["DNT"] == headers["Sec-GPC"] == "1",
    "nothing says a page sent us": lambda headers, _: not {"Referer", "Origin"} & headers.keys(),
    "no cookies": lambda headers, _: "Cookie" not in headers,
    "fetch metadata is whole or absent": lambda headers, secure: _fetch_metadata_fits(
        headers, secure=secure
    ),
    "client hints fit the User-Agent": lambda headers, secure: _hints_fit(headers, secure=secure),
    "every value is one line of ASCII": lambda headers, _: all(
        value.isascii() and value.isprintable() for value in headers.values()
    ),
    "the whole limiter lets it pass": lambda headers, secure: (
        FakeLimiter(clock=lambda: 0.0).judge_search(
            _request(headers, secure=secure), link_token=False
        )
        is None
    ),
}


def _request(headers: Mapping[str, str], *, secure: bool) -> ReceivedRequest:
    return ReceivedRequest("GET", "/search", "/search?q=x", {"q": "x"}, {}, headers, secure)


@pytest.fixture(scope="module")
def personas() -> list[tuple[Mapping[str, str], bool]]:
    """The honest headers, the browsers above and 200 others, over https and over http."""
    chosen: list[tuple[Mapping[str, str], bool]] = [
        (headers, secure)
        for secure in (True, False)
        for headers in (honest(), *(browser(agent, secure=secure) for agent in BROWSERS))
    ]
    for scheme in ("https", "http"):
        everybody = Personas(rotate=True, seed=7, user_agent_source=desktop_user_agent)
        urls = [f"{scheme}://{number}.example/" for number in range(200)]
        chosen += [(everybody.headers_for(url, own=False), scheme == "https") for url in urls]
        chosen.append((everybody.headers_for(f"{scheme}://own.example/", own=True), False))
    return chosen


@pytest.mark.parametrize("rule", LIMITER_RULES)
def test_every_persona_keeps_every_rule_of_the_limiter(personas, rule):
    assert len({headers["User-Agent"] for headers, _ in personas}) > 5
    for headers, secure in personas:
        assert LIMITER_RULES[rule](headers, secure), headers

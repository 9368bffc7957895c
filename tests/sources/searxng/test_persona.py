import re
from collections.abc import Callable, Iterable, Mapping

import pytest

from searx_mcp.http.user_agents import desktop_user_agent
from searx_mcp.sources.searxng.persona import Personas, browser, honest
from searx_mcp.testing.limiter import FakeLimiter
from searx_mcp.testing.loopback import ReceivedRequest

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
    name = "searx-mcp/1.2.3 (+https://github.com/searx-mcp/searx-mcp)"
    assert honest("1.2.3")["User-Agent"] == name


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

    assert headers["sec-ch-ua"] == brands
    assert headers["sec-ch-ua-platform"] == f'"{platform}"'
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

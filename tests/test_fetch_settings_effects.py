"""Every key of the `[web_fetch]` and `[fetch]` tables changes what a client does."""

import asyncio
import random
import ssl
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
import trustme

from searx_mcp import SearxClient
from searx_mcp.errors import FetchError, SettingsError
from searx_mcp.fetch.config import FetchConfig, WebFetchConfig
from searx_mcp.models.page import Page
from searx_mcp.settings.values import Settings
from searx_mcp.testing.web import FakePage, FakeWeb, article, redirect, silent

PARAGRAPHS = [f"Sentence {n} says something new about bees and flowers." for n in range(40)]
PAGES = {
    "/text": FakePage(article("Bees", PARAGRAPHS)),
    "/hop": redirect("/text"),
    "/silent": silent(),
    "/down": FakePage("down", status=503),
    "/app": FakePage("<html><body><div id=root></div><script src=/a.js></script></body></html>"),
}


class Clock:
    """Unix seconds that only a test moves."""

    def __init__(self) -> None:
        self.time = 1_790_000_000.0

    def __call__(self) -> float:
        return self.time


class Stage:
    """A web site and the settings under test."""

    def __init__(self, settings_for: Callable[..., Any], web: FakeWeb, folder: Path) -> None:
        self.settings_for = settings_for
        self.web = web
        self.folder = folder
        self.clock = Clock()

    def client(self, key: str, value: object, **others: object) -> SearxClient:
        table = "web_fetch" if key in WebFetchConfig.model_fields else "fetch"
        reachable = () if key == "allow_private" else (self.web,)
        settings = self.settings_for(*reachable, **{table: {key: value, **others}})
        return SearxClient(settings, clock=self.clock)

    async def fetch(self, key: str, value: object, path: str = "/text", **others: object) -> Page:
        async with asyncio.timeout(60), self.client(key, value, **others) as client:
            return await client.fetch(self.web.url(path))

    async def failure(self, key: str, value: object, path: str = "/text", **others: object) -> str:
        with pytest.raises(FetchError) as caught:
            await self.fetch(key, value, path, **others)
        return caught.value.code.value


async def max_content_size(stage: Stage) -> object:
    return (await stage.fetch("max_content_size", "1KB")).truncated


async def user_agent(stage: Stage) -> object:
    await stage.fetch("user_agent", "probe/1")
    return stage.web.requests[-1].headers["User-Agent"]


async def verify_ssl(stage: Stage) -> object:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    trustme.CA().issue_cert("127.0.0.1").configure_cert(context)
    async with FakeWeb(PAGES, ssl_context=context) as stage.web:
        assert await stage.failure("verify_ssl", value=True) == "tls_error"
        return (await stage.fetch("verify_ssl", value=False)).title


async def default_max_chars(stage: Stage) -> object:
    page = await stage.fetch("default_max_chars", 200)
    return len(page.markdown_content) <= 200 < page.total_chars


async def blocklist_file(stage: Stage) -> object:
    with pytest.raises(SettingsError) as caught:
        await stage.fetch("blocklist_file", str(stage.folder / "missing.txt"))
    return caught.value.field


async def max_per_host(stage: Stage) -> object:
    async with stage.client("max_per_host", 1) as client:
        async with asyncio.TaskGroup() as group:
            first = group.create_task(client.fetch(stage.web.url("/silent")))
            second = group.create_task(client.fetch(stage.web.url("/silent?2")))
            async with asyncio.timeout(60):
                await stage.web.wait_for_requests(1)
            for _ in range(200):
                await asyncio.sleep(0)
            first.cancel()
            second.cancel()
        return len(stage.web.requests)


async def host_rate(stage: Stage) -> object:
    async with stage.client("host_rate", 1) as client:
        for number in range(9):
            try:
                await client.fetch(stage.web.url(f"/text?{number}"), timeout=5)
            except FetchError as error:
                return error.code.value
    return "never limited"


async def breaker_pause(stage: Stage) -> object:
    async with stage.client("breaker_pause", 3_000, breaker_failures=1) as client:
        with pytest.raises(FetchError):
            await client.fetch(stage.web.url("/down"))
        with pytest.raises(FetchError) as caught:
            await client.fetch(stage.web.url("/text"))
    return caught.value.code.value, (caught.value.retry_after or 0) > 1_000


async def robots_timeout(stage: Stage) -> object:
    stage.web.put("/robots.txt", silent())
    return await stage.failure("robots_timeout", 0.5)


async def cache_ttl(stage: Stage) -> object:
    async with stage.client("cache_ttl", 0) as client:
        await client.fetch(stage.web.url("/text"))
        return (await client.fetch(stage.web.url("/text"))).from_cache


async def cache_max_age(stage: Stage) -> object:
    async with stage.client("cache_max_age", 60) as client:
        page = await client.fetch(stage.web.url("/text"))
        stage.clock.time += 61
        with pytest.raises(FetchError) as caught:
            await client.fetch("", cursor=page.cursor)
        return caught.value.code.value


async def cache_size(stage: Stage) -> object:
    dice = random.Random(1)
    for number in range(4):
        words = " ".join(f"{dice.getrandbits(256):x}" for _ in range(12_000))
        stage.web.put(f"/{number}", FakePage(words, content_type="text/plain"))
    async with stage.client("cache_size", "1MB") as client:
        cursors = [(await client.fetch(stage.web.url(f"/{number}"))).cursor for number in range(4)]
        assert (await client.fetch("", cursor=cursors[3])).total_chars > 700_000
        with pytest.raises(FetchError) as caught:
            await client.fetch("", cursor=cursors[0])
        return caught.value.code.value


async def stale_if_error(stage: Stage) -> object:
    async with stage.client("stale_if_error", 0) as client:
        await client.fetch(stage.web.url("/text"))
        stage.web.put("/text", FakePage("down", status=503))
        stage.clock.time += 400
        with pytest.raises(FetchError) as caught:
            await client.fetch(stage.web.url("/text"))
        return caught.value.code.value


async def tiers(stage: Stage) -> object:
    async with stage.client("tiers", []) as client:
        return (await client._asking()).fetcher._capturer._sites._adapters


async def github_token(stage: Stage) -> object:
    settings = stage.client("github_token", "ghp_secret").settings
    return "ghp_secret" in f"{settings!r}{settings.model_dump_json()}"


async def robots(stage: Stage) -> object:
    stage.web.put("/robots.txt", FakePage("User-agent: *\nDisallow: /", content_type="text/plain"))
    assert await stage.failure("robots", "respect") == "robots_disallowed"
    asked = len(stage.web.robots_requests)
    page = await stage.fetch("robots", "ignore")
    return page.robots, len(stage.web.robots_requests) - asked


async def headers(stage: Stage) -> object:
    await stage.fetch("headers", {stage.web.base: {"X-Key": "s3cr3t"}})
    return stage.web.requests[-1].headers["X-Key"]


async def browser(stage: Stage) -> object:
    with pytest.raises(SettingsError) as caught:
        await stage.fetch("browser", value=True, path="/app", browser_path="/no/such/chromium")
    return caught.value.field == "fetch.browser_path"


FAILURES: dict[str, tuple[object, str, str]] = {
    "default_timeout": (1, "/silent", "timeout"),
    "max_response_time": (1, "/silent", "timeout"),
    "max_redirects": (0, "/hop", "too_many_redirects"),
    "allow_private": ([], "/text", "blocked_port"),
    "policy": ("seen", "/text", "blocked_domain"),
    "allowed_domains": (["example.org"], "/text", "blocked_domain"),
    "blocked_domains": (["127.0.0.1"], "/text", "blocked_domain"),
}
"""By key: a value, a path that cannot be read with it, and why."""


@pytest.mark.parametrize("key", FAILURES)
async def test_the_key_refuses_a_page(settings_for, tmp_path, key):
    value, path, code = FAILURES[key]
    async with FakeWeb(PAGES) as web:
        assert await Stage(settings_for, web, tmp_path).failure(key, value, path) == code


EFFECTS: dict[Callable[[Stage], Awaitable[object]], object] = {
    max_content_size: True,
    user_agent: "probe/1",
    verify_ssl: "Bees",
    default_max_chars: True,
    blocklist_file: "fetch.blocklist_file",
    max_per_host: 1,
    host_rate: "rate_limited",
    breaker_pause: ("rate_limited", True),
    robots_timeout: "robots_disallowed",
    cache_ttl: False,
    cache_max_age: "cursor_expired",
    cache_size: "cursor_expired",
    stale_if_error: "http_error",
    tiers: (),
    github_token: False,
    robots: ("ignored", 0),
    headers: "s3cr3t",
    browser: True,
}


@pytest.mark.parametrize(
    ("act", "expected"), list(EFFECTS.items()), ids=[act.__name__ for act in EFFECTS]
)
async def test_the_key_has_an_effect(settings_for, tmp_path, act, expected):
    async with FakeWeb(PAGES) as web:
        assert await act(Stage(settings_for, web, tmp_path)) == expected


def test_every_key_of_the_tables_is_tried():
    names = {*FAILURES, *(act.__name__ for act in EFFECTS)}
    names |= {"breaker_failures", "browser_path"}  # with `breaker_pause` and `browser`
    assert names == {*WebFetchConfig.model_fields, *FetchConfig.model_fields}


async def test_a_timeout_named_by_a_call_beats_the_longest_time_of_the_settings(settings_for):
    async with FakeWeb({"/slow": FakePage("<p>Some words.</p>", delay=1.3)}) as web:
        settings = settings_for(web, web_fetch={"max_response_time": 1, "default_timeout": 1})
        async with SearxClient(settings) as client:
            with pytest.raises(FetchError):
                await client.fetch(web.url("/slow"))
            page = await client.fetch(web.url("/slow"), timeout=60)
    assert page.markdown_content == "Some words."


def test_the_defaults_of_the_table_are_those_of_the_specification():
    config = Settings().web_fetch
    assert config.default_timeout == 30
    assert config.max_content_size == 1_048_576
    assert config.max_redirects == 10
    assert config.max_response_time == 60
    assert config.verify_ssl
    assert config.default_max_chars == 200_000

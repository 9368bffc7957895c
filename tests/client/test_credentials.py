"""Own instances behind a login: credentials get there, and nowhere else."""

import base64
import logging
import random
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from aiohttp import web

from searx_mcp import SearxClient, Settings
from searx_mcp.errors import NoInstancesError, PolicyError
from searx_mcp.models.attempt import Verdict
from searx_mcp.models.instance import Tier
from searx_mcp.testing.loopback import LoopbackServer, ReceivedRequest
from searx_mcp.testing.results import FakeResult
from searx_mcp.testing.searxng import FakeSearxng

USER, PASSWORD = "alice", "hunter2 £@:/"
IN_A_URL = "alice:hunter2%20%C2%A3%40%3A%2F"
BASIC = base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()
SECRETS = (USER, "hunter2", BASIC)
PREFIX = "/searx"


@asynccontextmanager
async def behind_a_login(fake: FakeSearxng, header: str) -> AsyncIterator[LoopbackServer]:
    """A reverse proxy that lets in who sends exactly this Authorization header."""
    async with aiohttp.ClientSession(skip_auto_headers=["User-Agent"]) as session:

        async def respond(_request: web.BaseRequest, received: ReceivedRequest) -> web.Response:
            if received.headers.get("Authorization") != header:
                challenge = {"WWW-Authenticate": 'Basic realm="searx", charset="UTF-8"'}
                return web.Response(status=401, headers=challenge)
            async with session.get(f"{fake.base}{received.target}") as answer:
                kind = answer.content_type
                return web.Response(
                    status=answer.status, body=await answer.read(), content_type=kind
                )

        async with LoopbackServer(respond) as proxy:
            yield proxy


@pytest.fixture
async def fake() -> AsyncIterator[FakeSearxng]:
    """An instance below a path, whose results lead nowhere."""
    results = [FakeResult(f"https://www.example.org/{n}", title=f"Bees {n}") for n in range(4)]
    async with FakeSearxng(
        results=results, path_prefix=PREFIX, formats=["json", "html"]
    ) as running:
        yield running


@pytest.fixture
async def proxy(fake: FakeSearxng) -> AsyncIterator[LoopbackServer]:
    """The instance behind HTTP Basic."""
    async with behind_a_login(fake, f"Basic {BASIC}") as running:
        yield running


def settings_with(own: str, **credentials: str) -> Settings:
    entries = [{"url": own, **credentials}] if credentials else []
    return Settings.model_validate({"instances": {"own": [own], "credentials": entries}})


def client_for(settings: Settings, **arguments: Any) -> SearxClient:
    return SearxClient(settings, rng=random.Random(1), **arguments)


async def test_an_own_instance_below_a_path_and_behind_basic_auth_answers(
    fake: FakeSearxng, proxy: LoopbackServer
) -> None:
    settings = settings_with(f"{proxy.base}{PREFIX}", username=USER, password=PASSWORD)
    async with client_for(settings) as client:
        response = await client.search("bees", results_count=4, fetch_content=False)
    assert [attempt.verdict for attempt in response.attempts] == [Verdict.FULL]
    assert response.instance_used == f"{proxy.base}{PREFIX}/"
    assert all(request.path.startswith(f"{PREFIX}/") for request in proxy.requests)
    assert len(fake.requests) == len(proxy.requests)


async def test_an_own_instance_behind_a_bearer_token_answers(fake: FakeSearxng) -> None:
    async with behind_a_login(fake, "Bearer abc.def") as proxy:
        async with client_for(settings_with(f"{proxy.base}{PREFIX}/", token="abc.def")) as client:
            response = await client.search("bees", results_count=4, fetch_content=False)
    assert response.results_count == 4


async def test_pages_and_public_instances_get_no_credentials_even_on_the_same_origin(
    fake: FakeSearxng,
    proxy: LoopbackServer,
    catalog_of: Callable[..., Any],
    settings_for: Callable[..., Settings],
) -> None:
    entry = {"url": f"{fake.base}/own/", "username": USER, "password": PASSWORD}
    own = {"own": [entry["url"]], "credentials": [entry], "public": "on"}
    async with client_for(
        settings_for(fake, proxy, instances=own), catalog=catalog_of(fake)
    ) as client:
        response = await client.search("bees", results_count=4, fetch_content=False)
        await client.fetch(f"{fake.base}{PREFIX}/healthz")
        report = await client.instances()
    assert response.instance_used == fake.url
    assert {row.tier for row in report.instances} == {Tier.OWN, Tier.A_PLUS}
    sent = {(r.path.split("/")[1], r.headers.get("Authorization")) for r in fake.requests}
    assert sent == {("own", f"Basic {BASIC}"), ("robots.txt", None), (PREFIX[1:], None)}


async def test_plain_http_to_a_name_with_a_public_address_is_refused_in_words(
    monkeypatch: pytest.MonkeyPatch, proxy: LoopbackServer
) -> None:
    monkeypatch.setattr("searx_mcp.http.guard.is_private", lambda address: False)
    settings = settings_with(f"{proxy.base}{PREFIX}", username=USER, password=PASSWORD)
    async with client_for(settings) as client:
        with pytest.raises(NoInstancesError) as caught:
            await client.search("bees")
    assert "plain http" in caught.value.attempts[0].detail
    assert proxy.requests == []
    assert not isinstance(caught.value, PolicyError)


async def test_nothing_that_can_be_observed_shows_credentials(
    proxy: LoopbackServer,
    caplog: pytest.LogCaptureFixture,
    run_cli: Callable[..., Any],
    tmp_path: Path,
) -> None:
    caplog.set_level(logging.DEBUG)
    own = f"{proxy.base}{PREFIX}/"
    wrong = settings_with(own, username=USER, password=f"{PASSWORD}!")
    shown: list[object] = [wrong]
    async with client_for(wrong) as client:
        with pytest.raises(NoInstancesError) as caught:
            await client.search("bees")
        shown += [client, vars(client), await client.instances(), await client.suggest("bees")]
    error: BaseException | None = caught.value
    while error is not None:
        shown += [error, vars(error)]
        error = error.__cause__ or error.__context__
    assert caught.value.attempts[0].status_code == 401
    for userinfo in (IN_A_URL, f"{IN_A_URL}%21", "alice", "alice:hunter2/"):
        url = own.replace("//", f"//{userinfo}@")
        for arguments in (
            ("config",),
            ("config", "--json"),
            ("search", "bees", "--no-fetch-content"),
            ("search", "bees", "--no-fetch-content", "--json"),
            ("instances", "list", "--json"),
        ):
            shown.append(await run_cli(*arguments, SEARXNG_URL=url, SEARX_MCP_LOG_LEVEL="DEBUG"))
    assert any(
        request.headers.get("Authorization") == f"Basic {BASIC}" for request in proxy.requests
    )
    text = " ".join(f"{value} {value!r}" for value in shown)
    text += " ".join(f"{record.getMessage()} {vars(record)}" for record in caplog.records)
    kept = stored_bytes(tmp_path)
    assert own in text
    for secret in SECRETS:
        assert secret not in text
        assert secret.encode() not in kept


def stored_bytes(folder: Path) -> bytes:
    """All that was written below the folder of a test, where state and configuration are kept."""
    return b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())

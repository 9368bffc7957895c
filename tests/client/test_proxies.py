"""A whole client behind a proxy."""

import logging
import random
import ssl
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import trustme

from searx_mcp import SearxClient, Settings
from searx_mcp.errors import NoInstancesError, ProxyError, SettingsError
from searx_mcp.models.attempt import Verdict
from searx_mcp.models.instance import Catalog, InstanceState
from searx_mcp.testing.results import FakeResult
from searx_mcp.testing.searxng import FakeSearxng
from searx_mcp.testing.web import FakePage, FakeWeb, article
from tests.doubles.proxy import FakeProxy

HOST, SITE, ONION = "searx.example.net", "www.example.org", f"{'a' * 56}.onion"
ROWS = [FakeResult(f"https://{SITE}/bees", title="Bees")]
PAGES = {"/bees": FakePage(article("Bees", ["Bees dance and hum."] * 9))}


class World:
    """An instance, a Tor service and a web site, all of them behind one proxy."""

    def __init__(self, folder: Path) -> None:
        self.ca = trustme.CA()
        self.ca_file = folder / "ca.pem"
        self.ca.cert_pem.write_to_path(self.ca_file)
        self.instance = FakeSearxng(results=ROWS, ssl_context=self.certificate(HOST))
        self.hidden = FakeSearxng(results=ROWS)
        self.site = FakeWeb(PAGES, ssl_context=self.certificate(SITE))

    def certificate(self, name: str) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.ca.issue_cert(name).configure_cert(context)
        return context

    @property
    def hosts(self) -> dict[str, str]:
        return {
            f"{HOST}:443": self.instance.origin,
            f"{SITE}:443": self.site.origin,
            f"{ONION}:80": self.hidden.origin,
        }

    def client(self, proxy: str, *urls: str, own: bool = False, **network: Any) -> SearxClient:
        tables = {
            "instances": {"own": list(urls) if own else []},
            "network": {"proxy": proxy, "ca_file": str(self.ca_file), **network},
            "search": {"attempt_timeout": 1.0},
            "web_search": {"request_delay_range": [0, 0]},
            "open_sources": {"mode": "off"},
        }
        kinds = ["tor" if ONION in url else "normal" for url in urls]
        rows = [{"url": url, "network_type": kind} for url, kind in zip(urls, kinds, strict=True)]
        listed = {"listed_at": "2026-08-05T00:00:00Z", "instances": rows}
        catalog = None if own else Catalog.model_validate(listed)
        settings = Settings.model_validate(tables)
        return SearxClient(settings, catalog=catalog, rng=random.Random(1))


@pytest.fixture
async def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[World]:
    async def resolve(*_: object, **__: object) -> None:
        raise AssertionError("a name was looked up")

    monkeypatch.setattr("aiohttp.ThreadedResolver.resolve", resolve)
    stage = World(tmp_path)
    async with stage.instance, stage.hidden, stage.site:
        yield stage


SECURE, HIDDEN = f"https://{HOST}/", f"http://{ONION}/"


@pytest.mark.parametrize(("tier", "protocol"), [("own", "url"), ("public", "socks_url")])
async def test_a_search_with_its_pages_goes_through_the_proxy(
    world: World, tier: str, protocol: str
) -> None:
    async with FakeProxy(world.hosts, username="alice", password="hunter2") as proxy:
        address = getattr(proxy, protocol).replace("//", "//alice:hunter2@")
        async with world.client(address, SECURE, own=tier == "own") as client:
            response = await client.search("bees")
    assert response.instance_used == SECURE
    assert response.results[0].content is not None
    assert "dance" in response.results[0].content.markdown
    assert set(proxy.asked) == {f"{HOST}:443", f"{SITE}:443"}
    assert all(request.secure for request in world.instance.requests)


async def test_a_tor_service_is_searched_through_socks_as_over_plain_http(world: World) -> None:
    async with FakeProxy(world.hosts) as proxy:
        async with world.client(proxy.socks_url, HIDDEN) as client:
            response = await client.search("bees", fetch_content=False)
    assert response.instance_used == HIDDEN
    assert set(proxy.asked) == {f"{ONION}:80"}
    assert world.hidden.searches == 1
    for request in world.hidden.requests:
        assert not any(name.lower().startswith("sec-fetch") for name in request.headers)


@pytest.mark.parametrize("proxy", ["", "http://127.0.0.1:9"])
async def test_without_socks_a_tor_service_is_not_in_the_pool(world: World, proxy: str) -> None:
    async with world.client(proxy, HIDDEN) as client:
        assert (await client.instances()).instances == ()


@pytest.mark.parametrize("fault", ["gone", "login"])
async def test_a_proxy_that_fails_is_named_and_its_password_is_not(
    world: World, fault: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    async with FakeProxy(world.hosts, username="alice", password="sesame") as proxy:
        if fault == "gone":
            await proxy.aclose()
        address = proxy.url.replace("//", "//alice:hunter2@")
        async with world.client(address, SECURE) as client:
            with pytest.raises(NoInstancesError) as search:
                await client.search("bees")
            with pytest.raises(ProxyError, match=r"network\.proxy") as fetch:
                await client.fetch(f"https://{SITE}/bees")
    (attempt,) = search.value.attempts
    assert attempt.verdict is Verdict.CONNECTION
    assert "network.proxy" in attempt.detail
    shown = [search.value, vars(search.value), fetch.value, vars(fetch.value)]
    text = " ".join(f"{value!r}" for value in shown)
    text += " ".join(f"{record.getMessage()} {vars(record)}" for record in caplog.records)
    for secret in ("alice", "hunter2", "sesame", "YWxpY2U6"):
        assert secret not in text


async def test_a_proxy_that_hangs_is_not_taken_for_a_slow_instance(world: World) -> None:
    async with FakeProxy(world.hosts) as proxy:
        proxy.hang()
        async with world.client(proxy.url, SECURE) as client:
            with pytest.raises(NoInstancesError) as caught:
                await client.search("bees")
    (attempt,) = caught.value.attempts
    assert attempt.verdict is Verdict.CONNECTION
    assert "network.proxy" in attempt.detail


async def test_a_proxy_that_reads_tls_is_told_with_its_remedy(world: World) -> None:
    nosy = FakeProxy(world.hosts, intercept=world.certificate)
    async with nosy as proxy:
        async with world.client(proxy.url, SECURE, ca_file="") as client:
            with pytest.raises(NoInstancesError) as caught:
                await client.search("bees", fetch_content=False)
        assert proxy.read == b""
        async with world.client(proxy.url, SECURE) as client:
            response = await client.search("bees", fetch_content=False)
    assert response.instance_used == SECURE
    (attempt,) = caught.value.attempts
    assert attempt.verdict is Verdict.TLS
    assert "network.ca_file" in attempt.detail


async def test_a_file_of_certificates_that_is_missing_keeps_the_client_from_opening(
    world: World, tmp_path: Path
) -> None:
    client = world.client("", SECURE, ca_file=str(tmp_path / "missing.pem"))
    with pytest.raises(SettingsError) as caught:
        async with client:
            pass
    assert caught.value.field == "network.ca_file"


@pytest.mark.parametrize("tier", ["own", "public"])
async def test_a_proxy_that_is_gone_is_held_against_nobody(world: World, tier: str) -> None:
    async with FakeProxy(world.hosts) as proxy:
        await proxy.aclose()
        async with world.client(proxy.url, SECURE, own=tier == "own") as client:
            for _ in range(5):
                with pytest.raises(NoInstancesError):
                    await client.search("bees")
            (row,) = (await client.instances()).instances
    assert (row.state, row.failures) == (InstanceState.NEW, 0)


async def test_a_health_check_through_a_proxy_that_is_gone_holds_nothing_against_anybody(
    world: World,
) -> None:
    async with FakeProxy(world.hosts) as proxy:
        await proxy.aclose()
        async with world.client(proxy.url, SECURE, own=True) as client:
            upstream = (await client._asking()).upstream
            assert await upstream.is_alive(SECURE, own=True, timeout=2)

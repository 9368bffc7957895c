"""A real Prometheus scrapes a real server, evaluates the alert rules and every query of the dashboard."""

import asyncio
import json
import re
import shutil
from pathlib import Path
from typing import Any

import httpx2
import pytest
import yaml
from aiohttp import web

from searx_mcp.client.facade import SearxClient
from searx_mcp.server.app import build_server
from searx_mcp.settings.server import HttpConfig
from searx_mcp.testing.loopback import LoopbackServer
from searx_mcp.testing.searxng import FakeSearxng
from searx_mcp.testing.web import FakePage, FakeWeb
from tests.doubles.serving import connected, serving

pytest.importorskip("prometheus_client")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("prometheus") is None, reason="prometheus is not installed"),
]

ROOT = Path(__file__).parents[2]
DEADLINE = 120
"""Seconds until a test fails that would hang; nothing is measured."""
TOKEN = "0123456789abcdef"


class Alertmanager:
    """Takes the alerts that Prometheus sends."""

    def __init__(self) -> None:
        self.server = LoopbackServer(self._respond)
        self.fired: dict[str, dict[str, Any]] = {}
        self._news = asyncio.Event()

    async def _respond(self, request: web.BaseRequest, _: Any) -> web.Response:
        for alert in json.loads(await request.read()):
            self.fired[alert["labels"]["alertname"]] = alert
        self._news.set()
        return web.json_response({"status": "success"})

    async def until_fired(self, *names: str) -> None:
        while not {*names} <= self.fired.keys():
            await self._news.wait()
            self._news.clear()


def written(folder: Path, server: str, alertmanager: str) -> Path:
    """Write what docs/reference/metrics.md advises, with alert rules that need not wait."""
    advice = (ROOT / "docs" / "reference" / "metrics.md").read_text("utf-8")
    (config,) = (
        yaml.safe_load(block) for block in re.findall(r"```yaml\n(.*?)```", advice, re.DOTALL)
    )
    (job,) = config["scrape_configs"]
    assert [*job["static_configs"][0]] == ["targets"]
    job["static_configs"][0]["targets"] = [server]
    assert [*job["authorization"]] == ["credentials_file"]
    job["authorization"]["credentials_file"] = str(folder / "token")
    (folder / "token").write_text(TOKEN)
    rules = (ROOT / "deploy" / "prometheus-rules.yaml").read_text("utf-8")
    (folder / "rules.yaml").write_text(re.sub(r"for: \w+", "for: 0s", rules))
    config["global"] = {"scrape_interval": "250ms", "evaluation_interval": "250ms"}
    config["rule_files"] = ["rules.yaml"]
    config["alerting"] = {"alertmanagers": [{"static_configs": [{"targets": [alertmanager]}]}]}
    path = folder / "prometheus.yaml"
    path.write_text(yaml.safe_dump(config))
    return path


def expressions() -> list[str]:
    """The queries of the dashboard, for all servers."""
    dashboard = json.loads((ROOT / "deploy" / "grafana-dashboard.json").read_text("utf-8"))
    found = [target["expr"] for panel in dashboard["panels"] for target in panel["targets"]]
    return [text.replace("$instance", ".*") for text in found]


async def test_prometheus_scrapes_a_server_shows_the_dashboard_and_alerts_when_all_instances_fail(
    settings_for, catalog_of, start_program, unused_port, tmp_path
):
    alertmanager, address = Alertmanager(), f"127.0.0.1:{unused_port()}"
    pages = {"/": FakePage("<article><p>All of it is here.</p></article>")}
    async with (
        asyncio.timeout(DEADLINE),
        alertmanager.server,
        FakeWeb(pages) as site,
        FakeSearxng(formats=("html", "json")) as own,
        FakeSearxng() as public,
        httpx2.AsyncClient(trust_env=False, timeout=DEADLINE) as http,
    ):
        settings = settings_for(*(own, public, site), instances={"own": [own.url], "public": "on"})
        config = HttpConfig(port=0, token=TOKEN)
        async with (
            SearxClient(settings, catalog=catalog_of(public)) as service,
            serving(build_server(settings, service=service), config) as url,
            connected(url, token=TOKEN) as client,
        ):
            target = url.split("/")[2]
            prometheus = await start_program(
                *("prometheus", f"--web.listen-address={address}", "--log.level=error"),
                f"--config.file={written(tmp_path, target, alertmanager.server.origin)}",
                f"--storage.tsdb.path={tmp_path / 'data'}",
            )
            for query in ("bees", "bees", "hives"):
                await client.call_tool("web_search", {"query": query, "fetch_content": False})
            await client.call_tool("web_fetch", {"url": site.url("/")})
            await client.call_tool("web_fetch", {"url": site.url("/gone")})
            own.fail(500)
            public.challenge()
            for number in range(4):
                await client.call_tool("web_search", {"query": f"no bees {number}"})
            await alertmanager.until_fired("SearxMcpNoInstanceUsable", "SearxMcpOwnInstanceFails")
            # Prometheus has scraped by now: it sees how the counter grows.
            await client.call_tool("web_search", {"query": "no bees"})
            await alertmanager.until_fired("SearxMcpSearchesFail")
            empty = []
            for text in expressions():
                answer = await http.get(f"http://{address}/api/v1/query", params={"query": text})
                said = answer.json()
                assert said["status"] == "success", (text, said)
                assert "warnings" not in said
                if not said["data"]["result"]:
                    empty.append(text)
            scrape = await http.get(f"http://{address}/api/v1/targets")
            prometheus.terminate()
            assert await prometheus.stderr.read() == b""
    (scraped,) = scrape.json()["data"]["activeTargets"]
    assert scraped["health"] == "up"
    assert not empty
    assert [*alertmanager.fired["SearxMcpNoInstanceUsable"]["annotations"].values()] == [
        f"{target} has no usable instance."
    ]

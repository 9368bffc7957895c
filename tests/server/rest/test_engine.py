"""REST in front of the engine itself, over a real socket, with loopback sites."""

import asyncio

import httpx2
import pytest

from searx_mcp.client.facade import SearxClient
from searx_mcp.evidence.values import EvidenceResponse
from searx_mcp.models.response import SearchResponse, loaded
from searx_mcp.server.app import build_server
from searx_mcp.settings.server import HttpConfig
from searx_mcp.testing.searxng import FakeSearxng
from searx_mcp.testing.web import FakePage, FakeWeb
from tests.doubles.serving import DEADLINE, serving

pytestmark = [pytest.mark.slow, pytest.mark.smoke]

PAGE = FakePage(
    "<html><head><title>Bees</title></head><body><main><h1>Bees</h1>"
    + "".join(
        f"<h2>Part {part}</h2><p>In part {part} the bees carry pollen, and number {part} hums.</p>"
        for part in range(40)
    )
    + "<h2>Queens</h2><p>A larva becomes a queen when it is fed on royal jelly alone.</p>"
    + "</main></body></html>"
)


async def test_what_the_engine_finds_and_reads_is_served(settings_for):
    async with (
        asyncio.timeout(DEADLINE),
        FakeWeb({"/bees": PAGE}) as web,
        FakeSearxng(links=[web.url("/bees")]) as searxng,
        SearxClient(settings_for(web, own=[searxng])) as client,
        serving(build_server(client.settings, service=client), HttpConfig(port=0)) as url,
        httpx2.AsyncClient(
            base_url=url.removesuffix("/mcp"), trust_env=False, timeout=DEADLINE
        ) as rest,
    ):
        asked = {"query": "royal jelly"}
        searched = (await rest.post("/v1/search?whole=true", json=asked)).json()
        question = {"query": "what is royal jelly for?", "url": web.url("/bees")}
        answered = (await rest.post("/v1/answer?whole=true", json=question)).json()
        kept = (await rest.get("/v1/corpus")).json()
        lost = await rest.post("/v1/fetch", json={"url": web.url("/wasps")})

        pieces: list[str] = []
        more = {"url": web.url("/bees"), "max_chars": 700}
        while more:
            page = (await rest.post("/v1/tools/web_fetch", json=more)).json()
            pieces.append(page["content"])
            read = sum(map(len, pieces))
            cursor = page.get("cursor")
            more = {"cursor": cursor, "offset": read, "limit": 700} if cursor else {}
        ready = await rest.get("/readyz")

    (result,) = loaded(SearchResponse, searched).results
    assert result.content is not None
    assert all("length" in row for row in searched["results"][0]["content"]["passages"])
    assert "royal jelly" in result.content.passages[0].text
    for passage in result.content.passages:
        assert result.content.markdown.startswith(passage.text, passage.offset)
    assert any("royal jelly" in each.text for each in loaded(EvidenceResponse, answered).evidence)
    assert [row["url"] for row in kept["urls"]] == [web.url("/bees")]
    assert (lost.status_code, lost.json()["error"]["status_code"]) == (424, 404)
    assert len(pieces) > 3
    assert "".join(pieces).count("hums") == 40
    assert ready.status_code == 200

"""Engines that refuse an own instance, as a user of the client meets them."""

import random

import pytest

from searx_mcp import SearxClient
from searx_mcp.models.instance import EngineState
from searx_mcp.pool.config import OwnConfig
from searx_mcp.storage.sqlite_state import FILE_NAME, open_store
from searx_mcp.testing.clock import FakeClock
from searx_mcp.testing.results import FakeResult
from searx_mcp.testing.searxng import FakeSearxng

TODAY = 1_795_000_000.0
NAMES = ("bing", "google", "mojeek", "qwant")


@pytest.fixture
def fake():
    """An instance one of whose engines is refused."""
    return FakeSearxng(
        results=[FakeResult(f"https://{n}.example/", str(n), engines=NAMES) for n in range(10)],
        engines_failed=[("brave", "CAPTCHA")],
        formats=("html", "json"),
    )


@pytest.fixture
def client_of(settings_for, tmp_path):
    """Make clients that share what they learn, as processes do."""

    def make(fake: FakeSearxng, mode: str = "auto") -> SearxClient:
        own = OwnConfig.model_validate({"engine_care": mode})
        return SearxClient(
            settings_for(own=[fake]).model_copy(update={"own": own}),
            state=open_store(tmp_path / FILE_NAME),
            clock=FakeClock(TODAY),
            rng=random.Random(1),
        )

    return make


def named(fake: FakeSearxng) -> list[int]:
    """How many engines each search named."""
    asked = [request.query for request in fake.requests if request.path == "/search"]
    return [len(query["engines"].split(",")) if "engines" in query else 0 for query in asked]


@pytest.mark.parametrize(
    ("mode", "counts"),
    [pytest.param("auto", [0, 3], id="auto"), pytest.param("off", [0, 0], id="off")],
)
async def test_another_process_spreads_its_first_search_unless_that_is_off(
    client_of, fake, mode, counts
):
    async with fake:
        for query in ("red pandas", "black bears"):
            async with client_of(fake, mode) as client:
                await client.search(query, fetch_content=False)
    assert named(fake) == counts


async def test_engines_of_a_call_are_left_as_they_are(client_of, fake):
    async with fake, client_of(fake) as client:
        await client.search("red pandas", fetch_content=False)
        await client.search("black bears", fetch_content=False, engines=["brave"])
    assert named(fake) == [0, 1]
    assert fake.requests[-1].query["engines"] == "brave"


async def test_an_instance_is_shown_with_its_engines(client_of, fake):
    async with fake, client_of(fake) as client:
        await client.search("red pandas", fetch_content=False)
        shown = await client.admin.show(fake.url)
    engines = {each.name: each for each in shown.instance.engines}
    assert set(engines) == {*NAMES, "brave"}
    assert (engines["bing"].state, engines["bing"].results) == (EngineState.WELL, 10)
    assert (engines["brave"].state, engines["brave"].reason) == (EngineState.REFUSED, "CAPTCHA")
    assert engines["brave"].retry_after > 0

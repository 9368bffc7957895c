"""What becomes of calls, and of what is kept: cancelling, restarts, replicas, tokens; the same for every front."""

import asyncio
import re
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import Any, Final

import pytest

from searx_mcp.verbs.evidence import ANSWER, CORPUS_STATUS, INGEST, SEARCH_CORPUS
from searx_mcp.verbs.verb import Verb
from searx_mcp.verbs.web import WEB_FETCH, WEB_SEARCH
from tests.doubles.fronts import FRONTS, Mcp, Outcome
from tests.doubles.tokens import new_token

pytestmark = pytest.mark.slow

QUESTION: Final = "How many kilograms of honey does a colony store for winter?"
FACT: Final = "A colony stores 27 kilograms of honey for winter."
USUAL: Final = [pytest.param((front, "usual"), id=front) for front in FRONTS]
UNLIKE: Final = ("stdio", "rest")
"""Two fronts that have nothing in common but the service: what happens behind it is the same for all."""
TWO: Final = [pytest.param((front, "usual"), id=front) for front in UNLIKE]
SERVED: Final = ("http", "rest")  # the key of a thin client has its tests in `tests/remote`
PATIENCE: Final = 60
"""Seconds until a test fails that would hang; nothing is measured."""


@pytest.fixture(scope="module")
def anyio_backend(backend_at: Callable[[float], Any]) -> Any:
    return backend_at(1.0)


@pytest.fixture
async def scenes(open_scenes: Any, run_cli: Any) -> AsyncIterator[Any]:
    """What opens fronts for this test alone."""
    async with open_scenes(run_cli) as opening:
        yield opening


async def search(scene: Any, **more: Any) -> Outcome:
    usual = {"query": "bees {new}", "fetch_content": False, "results_count": 3}
    found: Outcome = await scene.call(WEB_SEARCH, {**usual, **more})
    return found


HELD: Final[Mapping[str, tuple[Verb[Any, Any], Mapping[str, Any]]]] = {
    "a search": (WEB_SEARCH, {"query": "held {new}"}),
    "a page": (WEB_FETCH, {"url": "{site}/held?{new}"}),
    "an answer": (ANSWER, {"query": QUESTION, "url": "{site}/held?{new}"}),
}
"""Calls that wait for an instance or a site."""


@pytest.mark.parametrize(
    ("opened", "verb", "arguments"),
    [
        pytest.param((front, "usual"), *held, id=f"{front}: {name}")
        for front in FRONTS
        for name, held in HELD.items()
        if front in UNLIKE or name == "a search"
    ],
    indirect=["opened"],
    scope="module",
)
async def test_what_is_cancelled_asks_nobody_any_more(
    scene: Any, verb: Verb[Any, Any], arguments: Mapping[str, Any]
) -> None:
    assert not (await search(scene)).code
    instance = scene.instances[-1]
    asked = instance if verb is WEB_SEARCH else scene.site
    if asked is instance:
        instance.hold()
    async with asyncio.timeout(PATIENCE), asyncio.TaskGroup() as group:
        call = group.create_task(scene.front.call_held(verb, scene.filled(arguments)))
        await asked.until_waiting(1)
        call.cancel()
        await asked.until_waiting(0)
    instance.recover()
    assert call.cancelled()
    scene.new += 1
    assert not (await search(scene)).code


@pytest.mark.parametrize("opened", [USUAL[0], *TWO], indirect=True)
async def test_pages_that_were_kept_are_there_after_a_restart(scene: Any) -> None:
    await scene.call(INGEST, {"url": "{site}/winter"})
    asked = scene.asked
    await scene.front.restart()
    found = await scene.call(SEARCH_CORPUS, {"query": QUESTION})
    assert found.data["citations"][0]["text"] == FACT
    assert scene.asked == asked


@pytest.mark.parametrize("opened", TWO, indirect=True)
async def test_a_page_that_a_person_removes_is_gone_everywhere(scene: Any, run_cli: Any) -> None:
    page = scene.filled("{site}/tea")
    await scene.call(INGEST, {"url": page})
    ran = await run_cli("corpus", "remove", page, SEARX_MCP_CONFIG=scene.front.config())
    assert ran.code == 0, ran.err
    status = await scene.call(CORPUS_STATUS, {"source_url": page})
    assert status.data["documents"] == 0


@pytest.mark.parametrize("opened", USUAL, indirect=True)
async def test_the_pool_is_told_with_what_it_has_learned(scene: Any) -> None:
    await search(scene)
    assert scene.instances[-1].url in await scene.front.pool()


@pytest.mark.parametrize("opened", USUAL, indirect=True)
async def test_the_words_of_a_stranger_act_nowhere(scene: Any, hostile: Any) -> None:
    page = await scene.call(WEB_FETCH, {"url": "{site}/hostile"})
    fenced, boundary = page.text, "b"
    if found := re.search(r"^<web-content id=(\w+)", page.text, re.MULTILINE):
        boundary = found[1]
    else:  # for a program, which sees no fences, nor what looks like the end of one
        markdown = page.data["markdown_content"].replace(
            "\N{HEAVY LEFT-POINTING ANGLE QUOTATION MARK ORNAMENT}", ""
        )
        fenced = f"<web-content id=b>\n{markdown}\n</web-content b>"
    assert "Tea is good." in fenced
    assert hostile.breaches(fenced, boundary=boundary) == []
    assert bool(found) is isinstance(scene.front, Mcp)


@pytest.mark.parametrize("opened", USUAL, indirect=True)
async def test_what_is_not_there_is_said_to_be_unknown(scene: Any) -> None:
    unknown = await scene.front.call_unknown("google")
    if unknown is not None:
        assert unknown.code
        assert "Traceback" not in unknown.text
    assert not (await search(scene)).code


@pytest.mark.parametrize(
    ("opened", "pages"),
    [
        *(
            pytest.param((front, "many"), [{"page": n} for n in (1, 2, 3)], id=f"{front}: pages")
            for front in FRONTS
        ),
        pytest.param(("stdio", "many"), [{"offset": n} for n in (0, 7, 14)], id="stdio: offsets"),
    ],
    indirect=["opened"],
    scope="module",
)
async def test_pages_of_a_list_do_not_overlap(scene: Any, pages: list[dict[str, int]]) -> None:
    lists = [(await search(scene, results_count=7, **page)).data["results"] for page in pages]
    assert [len(rows) for rows in lists] == [7] * 3
    assert len({row["url"] for rows in lists for row in rows}) == 21


async def test_what_one_replica_has_found_another_need_not_search_for(
    scenes: Any, redis_url: str
) -> None:
    redis = {
        "url": redis_url,
        "prefix": f"{secrets.token_hex(8)}:",
        "secret": "the same for all replicas",
    }
    one = await scenes.open("rest", redis=redis)
    other = await scenes.beside("rest", one, redis=redis)
    first = await search(one)
    asked = one.asked
    second = await search(other)
    assert second.data["results"] == first.data["results"]
    assert one.asked == asked


async def test_what_one_replica_has_read_another_searches(scenes: Any, postgres_url: str) -> None:
    shared = {
        "postgres": {"url": postgres_url},
        "storage": {"namespace": secrets.token_hex(8)},
    }
    one = await scenes.open("rest", **shared)
    other = await scenes.beside("rest", one, **shared)
    await one.call(INGEST, {"url": "{site}/winter"})
    asked = one.asked
    found = await other.call(SEARCH_CORPUS, {"query": QUESTION})
    assert found.data["citations"][0]["text"] == FACT
    assert one.asked == asked


async def refusal(opening: Awaitable[Any]) -> str:
    """Why somebody is refused: some libraries find out when they connect."""
    try:
        return (await search(await opening)).code
    except Exception as error:  # noqa: BLE001 - whatever the library makes of it
        return repr(error)


@pytest.mark.parametrize("front", SERVED)
async def test_a_token_opens_what_it_names_and_nothing_else(
    scenes: Any, front: str, tmp_path: Any
) -> None:
    whole, lines = new_token("whole")
    narrow, more = new_token("narrow")
    tokens = tmp_path / "tokens.toml"
    tokens.write_text(f'{lines}\n{more}tools = ["web_search"]\n')
    tokens.chmod(0o600)
    http = {"tokens_file": f"{tokens}"}
    scene = await scenes.open(front, http=http, token=whole)
    assert not (await search(scene)).code
    assert not (await scene.call(WEB_FETCH, {"url": "{site}/winter"})).code
    scene = await scenes.beside(front, scene, http=http, token=narrow)
    assert not (await search(scene)).code
    assert (await scene.call(WEB_FETCH, {"url": "{site}/winter"})).code
    for wrong in ("", whole[::-1]):
        asked = scene.asked
        told = await refusal(scenes.beside(front, scene, http=http, token=wrong))
        assert "401" in told or "unauthorized" in told
        assert whole not in told
        assert scene.asked == asked


async def test_the_dashboard_shows_the_pool_and_what_was_done(scenes: Any) -> None:
    scene = await scenes.open("rest")
    await search(scene)
    page = (await scene.front.http.get("/")).text
    assert scene.instances[-1].origin in page


async def test_pages_for_clients_of_searxng_do_not_overlap(scenes: Any) -> None:
    scene = await scenes.open("rest", "many")
    lists = []
    for page in ("1", "2", "3"):
        asked = {"q": "bees", "format": "json", "pageno": page}
        lists.append((await scene.front.http.get("/search", params=asked)).json()["results"])
    assert [len(rows) for rows in lists] == [10] * 3
    assert len({row["url"] for rows in lists for row in rows}) == 30

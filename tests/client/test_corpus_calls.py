"""Reading by question from inside a program, against real pages and instances on loopback."""

import asyncio
import random
import subprocess
import sys

import pytest

from searx_mcp import SearxClient
from searx_mcp.errors import (
    ErrorCode,
    InvalidArgumentError,
    PolicyError,
    SearxMcpError,
    SiteError,
)
from searx_mcp.evidence.requests import ReadRequest
from searx_mcp.evidence.values import PROTECTED
from searx_mcp.models.fetch_request import FetchRequest
from searx_mcp.testing.clock import FakeClock
from searx_mcp.testing.web import FakePage, FakeWeb, article, silent

TEA = article(
    "Tea",
    [
        "Black tea wants water that boils, at one hundred degrees.",
        "Green tea turns bitter above eighty degrees, so let the kettle stand for two minutes.",
    ],
)
TIN = article(
    "Storing tea",
    ["A tin with a tight lid keeps leaves fresh for eighteen months, as light and air spoil them."],
)
LEXICAL = {"embedding": {"provider": "none"}}
SEARCHED = """
import asyncio, sys
from searx_mcp import SearxClient, Settings
from searx_mcp.testing.searxng import FakeSearxng
from searx_mcp.testing.web import FakePage, FakeWeb

async def main():
    async with FakeWeb({"/a": FakePage("<p>Bees dance.</p>")}) as web:
        async with FakeSearxng(links=web.links, formats=("html", "json")) as own:
            settings = Settings(
                instances={"own": [own.url]},
                fetch={"allow_private": [own.origin, web.origin]},
                open_sources={"mode": "off"},
            )
            async with SearxClient(settings) as client:
                found = await client.search("bees")
                assert found.results

asyncio.run(main())
print(*sys.modules)
"""
NOT_FOR_SEARCHES = {
    "numpy",
    "searx_mcp.evidence.answer.answerer",
    "searx_mcp.client.answering",
    "searx_mcp.evidence.corpus.corpus",
    "searx_mcp.evidence.corpus.language_models",
    "searx_mcp.evidence.corpus.retrieval",
    "searx_mcp.evidence.storage.store",
    "wordllama",
}


@pytest.fixture
async def web():
    pages = {"/tea": FakePage(TEA), "/tin": FakePage(TIN)}
    async with FakeWeb(pages) as site:
        yield site


@pytest.fixture
def client_of(settings_for):
    def make(*reachable, own=(), folder=None, clock=None, **tables) -> SearxClient:
        settings = settings_for(*reachable, own=own, **{**LEXICAL, **tables})
        more = {"clock": clock} if clock else {}
        return SearxClient(settings, rng=random.Random(1), folder=folder, **more)

    return make


def test_a_search_loads_nothing_that_reads_by_question():
    ran = subprocess.run(
        [sys.executable, "-c", SEARCHED], check=True, capture_output=True, text=True, timeout=60
    )
    assert not set(ran.stdout.split()) & NOT_FOR_SEARCHES


async def test_requests_may_be_built_beforehand_and_tell_their_steps(client_of, web):
    steps: list[str] = []
    async with client_of(web) as client:
        request = ReadRequest(url=web.url("/tea"), query=("tea",))
        response = await client.read_page(request, progress=steps.append)
    assert response.title == "Tea"
    assert steps


async def test_pages_are_exported_removed_and_cleared(client_of, web):
    async with client_of(web) as client:
        await client.ingest([web.url("/tea"), web.url("/tin")])
        corpus = await client.corpus()
        exported = [page async for page in corpus.export()]
        assert await corpus.remove([web.url("/tea"), web.url("/none")]) == 1
        left = (await client.corpus_status()).urls
        await corpus.clear()
        cleared = await client.corpus_status()
    assert {page.url for page in exported} == {web.url("/tea"), web.url("/tin")}
    for page in exported:
        whole = page.markdown.encode()
        assert all(whole[c.span[0] : c.span[1]].decode() == c.text for c in page.chunks)
    assert [page.url for page in left] == [web.url("/tin")]
    assert cleared.documents == 0


async def test_without_a_folder_the_corpus_ends_with_the_block(client_of, web, tmp_path):
    for folder, kept in ((None, 0), (tmp_path, 1)):
        client = client_of(web, folder=folder)
        async with client:
            await client.ingest(web.url("/tea"))
        async with client:
            assert (await client.corpus_status()).documents == kept
    assert (tmp_path / "corpus-v1.db").exists()


async def test_a_corpus_that_is_switched_off_leaves_no_file(client_of, web, tmp_path):
    async with client_of(web, folder=tmp_path, storage={"corpus": False}) as client:
        await client.ingest(web.url("/tea"))
        assert (await client.corpus_status()).documents == 1
    assert not (tmp_path / "corpus-v1.db").exists()


@pytest.mark.parametrize("is_kept", [True, False], ids=["file", "memory"])
async def test_a_client_keeps_the_pages_of_several_namespaces_apart(
    client_of, web, tmp_path, is_kept
):
    async with client_of(web, folder=tmp_path if is_kept else None) as client:
        ours, theirs = client.within("a"), client.within("b")
        await ours.ingest(web.url("/tea"))
        await theirs.ingest(web.url("/tin"))
        await ours.read_page(web.url("/tin"), query="tin")
        asked = len(web.requests)
        assert (await client.corpus_status()).documents == 0
        assert (await ours.corpus_status()).documents == 2
        assert (await client.within("b").corpus_status()).documents == 1
        found = await ours.search_corpus("When is green tea bitter?")
        assert web.url("/tea") in {each.url for each in found.sources}
        found = await theirs.search_corpus("When is green tea bitter?")
        assert web.url("/tea") not in {each.url for each in found.sources}
        assert len(web.requests) == asked
        page = await theirs.fetch(FetchRequest(url=web.url("/tea")))
        assert page.url == web.url("/tea")
        assert len(web.requests) == asked  # what one reads is not asked for once more
    async with client_of(web, folder=tmp_path, storage={"namespace": "a"}) as client:
        assert (await client.corpus_status()).documents == 2 * is_kept


async def test_no_question_reaches_the_disk(client_of, web, tmp_path):
    async with client_of(web, folder=tmp_path) as client:
        await client.read_page(web.url("/tea"), query="zanzibar green tea")
        await client.answer("zanzibar tea", url=web.url("/tea"))
        await client.search_corpus("zanzibar kettle")
    for file in tmp_path.rglob("*"):
        assert b"zanzibar" not in file.read_bytes()


async def test_a_private_page_is_never_read(client_of, web):
    async with client_of() as client:
        with pytest.raises(PolicyError):
            await client.read_page(web.url("/tea"), query="tea")
        with pytest.raises(PolicyError):
            await client.answer("tea", url=web.url("/tea"))
    assert web.requests == []


async def test_a_page_behind_a_login_is_a_note_and_one_that_is_gone_an_error(client_of):
    async with FakeWeb({"/in": FakePage("Log in", status=401)}) as web:
        async with client_of(web) as client:
            protected = await client.read_page(web.url("/in"), query="tea")
            with pytest.raises(SiteError):
                await client.read_page(web.url("/gone"), query="tea")
    assert protected.note == PROTECTED
    assert protected.queries[0].results == ()


@pytest.mark.parametrize(
    ("call", "code"),
    [
        (
            lambda client, url: client.answer("tea", url=url, timeout=1),
            ErrorCode.DEADLINE_EXCEEDED,
        ),
        (
            lambda client, url: client.read_page(url, query="tea", timeout=1),
            ErrorCode.TIMEOUT,
        ),
    ],
    ids=["answer", "read_page"],
)
async def test_a_page_that_never_comes_costs_no_more_than_the_deadline(client_of, call, code):
    async with asyncio.timeout(10), FakeWeb({"/slow": silent()}) as web:
        async with client_of(web) as client:
            with pytest.raises(SearxMcpError) as caught:
                await call(client, web.url("/slow"))
    assert caught.value.code is code


async def test_a_stale_page_is_asked_about_once_its_time_is_over(client_of, web):
    clock = FakeClock()
    async with client_of(web, clock=clock) as client:
        await client.read_page(web.url("/tea"), query="tea")
        asked = len(web.requests)
        clock.advance(365 * 86_400)
        await client.read_page(web.url("/tea"), query="tea")
    assert len(web.requests) > asked


async def test_closing_ends_what_is_under_way_and_leaves_no_task(client_of):
    before = asyncio.all_tasks()
    async with FakeWeb({"/slow": silent()}) as web:
        async with asyncio.timeout(10):
            async with client_of(web) as client:
                answer = asyncio.ensure_future(client.answer("tea", url=web.url("/slow")))
                await web.wait_for_requests(1)
            with pytest.raises((asyncio.CancelledError, SearxMcpError)):
                await answer
    assert asyncio.all_tasks() - before == set()


async def test_a_type_checker_finds_what_is_refused_at_run_time(settings_for):
    async with SearxClient(settings_for()) as client:
        with pytest.raises(InvalidArgumentError):
            await client.answer("tea", intents="factual")  # type: ignore[call-arg] # the point of this test
        with pytest.raises(InvalidArgumentError):
            await client.read_page("https://a.example/", query=5)  # type: ignore[arg-type] # likewise
        with pytest.raises(InvalidArgumentError):
            await client.search_corpus("tea", top_k="many")  # type: ignore[arg-type] # likewise
        with pytest.raises(InvalidArgumentError):
            await client.search_all(["tea"], colour="green")  # type: ignore[call-arg] # likewise

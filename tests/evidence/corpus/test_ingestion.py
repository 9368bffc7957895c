"""Bringing pages into the corpus: which requests are made, and what stays of a page that changes."""

import asyncio
import logging
import sqlite3
from contextlib import closing

import pytest

from searx_mcp.errors import ErrorCode
from searx_mcp.evidence.corpus.ingestion import HELD_FOR, REFRESH_PAUSE, address_of
from searx_mcp.evidence.requests import IngestRequest, ReadRequest, StatusRequest
from searx_mcp.evidence.values import PROTECTED
from searx_mcp.testing.web import FakePage, redirect, silent

HOUR = 3_600.0
PAST = HOUR + 1
"""Seconds after which a page is stale."""


async def at_once(calls):
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(call) for call in calls]
    return [task.result() for task in tasks]


def soon(seconds=5.0):
    return asyncio.get_running_loop().time() + seconds


async def test_a_fresh_page_costs_no_request(corpus, site, wax_url):
    first = await corpus.ingest(wax_url)
    again = await corpus.ingest(wax_url)
    assert len(site.requests) == 1
    assert (first.was_fetched, again.was_fetched) == (True, False)
    assert (first.new_chunks, again.new_chunks) == (1, 0)
    assert again.chunks == first.chunks
    assert again.page == first.page


async def test_a_stale_page_that_is_unchanged_keeps_its_chunks(corpus, site, clock, wax_url):
    first = await corpus.ingest(wax_url)
    clock.advance(PAST)
    again = await corpus.ingest(wax_url)
    assert site.requests[1].headers["If-None-Match"] == first.page.etag
    assert not again.was_fetched
    assert again.new_chunks == 0
    assert again.chunks == first.chunks
    assert again.page.fetched_at == clock()
    assert await corpus.ingest(wax_url)
    assert len(site.requests) == 2, "it is fresh again"


async def test_a_site_is_asked_about_what_only_the_corpus_has(parts, site, clock, pages, wax_url):
    store = parts.store(None)
    corpus = parts.corpus(store=store)
    first = await corpus.ingest(wax_url)
    await pages.purge()
    clock.advance(PAST)
    again = await corpus.ingest(wax_url)
    assert site.requests[1].headers["If-None-Match"] == first.page.etag
    assert again.chunks == first.chunks
    assert again.page.document == first.page.document
    await corpus.ingest(wax_url, force=True)
    clock.advance(PAST)
    await pages.purge()
    await corpus.ingest(wax_url)
    assert len(site.requests) == 3, (
        "what was found unchanged is fresh, and asked about when it is not"
    )


async def test_a_changed_page_keeps_the_chunks_that_did_not_change(
    corpus, site, sections_of, clock
):
    site.put("/a", sections_of("Bees make wax.", "Bees make honey.", "Mites kill."))
    first = await corpus.ingest(site.url("/a"))
    site.put("/a", sections_of("Bees make wax.", "Wasps make paper.", "Mites kill."))
    clock.advance(PAST)
    again = await corpus.ingest(site.url("/a"))
    before, after = ([chunk.id for chunk in done.chunks] for done in (first, again))
    assert len(before) == len(after) == 3
    assert [old == new for old, new in zip(before, after, strict=True)] == [True, False, True]
    assert again.new_chunks == 1
    assert await corpus.chunks(site.url("/a")) == again.chunks


async def test_a_forced_refresh_asks_the_site_at_most_every_30_seconds(
    corpus, site, clock, wax_url
):
    await corpus.ingest(wax_url)
    clock.advance(REFRESH_PAUSE - 5)
    done = await corpus.ingest(wax_url, force=True)
    assert len(site.requests) == 1
    assert done.note == "It was fetched 25 seconds ago and is not fetched again so soon."
    clock.advance(5)
    done = await corpus.ingest(wax_url, force=True)
    assert len(site.requests) == 2
    assert "If-None-Match" not in site.requests[1].headers
    assert (done.was_fetched, done.new_chunks, done.note) == (True, 0, "")


FREE = '<script type="application/ld+json">{"@type":"Article","isAccessibleForFree":false}</script>'


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(FakePage("Sign in.", status=401), id="401"),
        pytest.param(FakePage("Forbidden.", status=403), id="403"),
        pytest.param(
            FakePage(f"<html><head>{FREE}</head><body><p>Bees make wax.</p></body></html>"),
            id="says that it is not free",
        ),
    ],
)
async def test_a_protected_page_is_a_note_and_nothing_is_kept(corpus, site, page):
    site.put("/a", page)
    answer = await corpus.read(ReadRequest(url=site.url("/a"), query=("wax?",)))
    assert answer.note == PROTECTED
    assert [each.results for each in answer.queries] == [()]
    assert await corpus.pages([site.url("/a")]) == []
    (page,) = (await corpus.ingest_all(IngestRequest(url=(site.url("/a"),)))).pages
    assert (page.note, page.error, page.chunks) == (PROTECTED, "", 0)


@pytest.mark.parametrize(
    ("failure", "code", "days"),
    [
        (FakePage("down", status=500), ErrorCode.HTTP_ERROR, 0),
        (FakePage("slow down", status=429), ErrorCode.RATE_LIMITED, 3),
        (silent(), ErrorCode.TIMEOUT, 3),
    ],
    ids=["500", "429", "silence"],
)
async def test_while_a_site_fails_the_kept_page_serves(
    corpus, site, clock, pass_by, failure, code, days, wax_url
):
    first = await corpus.ingest(wax_url)
    clock.advance(2 * HOUR + days * 24 * HOUR)
    site.put("/a", failure)
    async with asyncio.TaskGroup() as group:
        task = group.create_task(corpus.ingest(wax_url, deadline=soon(60)))
        async with asyncio.timeout(30):
            await site.wait_for_requests(2)
        if code is ErrorCode.TIMEOUT:
            pass_by(58.1)
    again = task.result()
    assert again.error is None
    assert again.chunks == first.chunks
    ago = "3 days" if days else "2 hours"
    assert again.note == f"The site failed just now ({code}); this is a copy from {ago} ago."


async def test_a_page_that_is_gone_is_an_error_although_it_is_kept(corpus, site, clock, wax_url):
    await corpus.ingest(wax_url)
    clock.advance(PAST)
    site.put("/a", FakePage("gone", status=404))
    assert (await corpus.ingest(wax_url)).error.code == ErrorCode.NOT_FOUND


SKELETON = (
    "<html><head><title>App</title></head><body><div id=root>{}</div>"
    "<script src=/a.js></script><noscript>Enable JavaScript to run this app.</noscript></body></html>"
)


async def test_a_page_that_needs_its_scripts_says_so_each_time(corpus, site):
    site.put(
        "/a",
        FakePage(
            SKELETON.format(
                "<h1>Hives</h1><p>Loading the list of all hives in the garden, please wait a moment.</p>"
            )
        ),
    )
    done = await corpus.ingest(site.url("/a"))
    again = await corpus.ingest(site.url("/a"))
    assert "script" in done.note
    assert again.note == done.note


async def test_a_page_of_nothing_but_scripts_says_what_an_operator_can_do(corpus, site):
    site.put("/a", FakePage(SKELETON.format("")))
    error = (await corpus.ingest(site.url("/a"))).error
    assert error.code == ErrorCode.EXTRACTION_FAILED
    assert "fetch.browser" in error.advice


@pytest.mark.parametrize("place", ["file"], indirect=True)
async def test_a_page_that_must_not_be_stored_is_on_no_disk_and_serves_for_a_while(
    corpus, site, page_of, clock, place
):
    body = page_of("Bees make wax.", headers={"Cache-Control": "no-store"})
    site.put("/a", body)
    url = site.url("/a")
    answer = await corpus.read(ReadRequest(url=url, query=("wax?",)))
    assert [result.text for result in answer.queries[0].results] == ["# Hives\n\nBees make wax."]
    assert len(await corpus.pages([url])) == 1
    assert (await corpus.status(StatusRequest())).documents == 0
    clock.advance(HELD_FOR - 1)
    assert (await corpus.read(ReadRequest(url=url, query=("wax?",)))).queries == answer.queries
    assert len(site.requests) == 1
    assert b"wax" not in b"".join(file.read_bytes() for file in place.parent.iterdir())
    clock.advance(2)
    assert await corpus.pages([url]) == []
    await corpus.ingest(url)
    assert len(site.requests) == 2


async def test_a_page_larger_than_the_store_can_be_asked_nevertheless(parts, site, sections_of):
    corpus = parts.corpus(store=parts.store(None, max_bytes=2_000))
    site.put("/a", sections_of(*"abcdefgh"))
    done = await corpus.ingest(site.url("/a"))
    assert len(done.chunks) == done.new_chunks == 8
    found = await corpus.retrieve("part", urls=[done.url], limit=50)
    assert found.evaluated == 8


async def test_many_who_want_one_page_at_once_make_one_request(corpus, site, wax_url):
    done = await at_once(corpus.ingest(wax_url) for _ in range(8))
    assert len(site.requests) == 1
    assert {each.chunks for each in done} == {done[0].chunks}


async def test_two_corpora_on_one_file_bring_a_page_in_at_once(parts, site, sections_of, tmp_path):
    path = tmp_path / "corpus-v1.db"
    one, other = (parts.corpus(path) for _ in range(2))
    site.put("/a", sections_of(*"abcd"))
    for force in (False, True):
        done = await at_once(each.ingest(site.url("/a"), force=force) for each in (one, other) * 4)
        assert all(each.error is None for each in done)
        assert {each.chunks for each in done} == {await one.chunks(site.url("/a"))}
    assert (await one.status(StatusRequest())).documents == 1


async def test_no_more_pages_are_read_at_once_than_set_but_for_silent_ones(parts, site, pass_by):
    corpus = parts.corpus(concurrency=2)
    for name in "abcd":
        site.put(f"/{name}", silent())
    urls = [site.url(f"/{name}") for name in "abcd"]
    async with asyncio.TaskGroup() as group:
        task = group.create_task(corpus.ingest_several(urls, deadline=soon(60), wait=None))
        async with asyncio.timeout(30):
            await site.wait_for_requests(2)
        for _ in range(20):
            await asyncio.sleep(0)
        assert len(site.requests) == 2
        pass_by(2)
        async with asyncio.timeout(30):
            await site.wait_for_requests(4)
        pass_by(60)
    assert all(done.error is not None for done in task.result())


async def test_a_kept_page_does_not_wait_for_slow_sites(parts, site, wax_url):
    corpus = parts.corpus(concurrency=1)
    site.put("/slow", silent())
    await corpus.ingest(wax_url)
    async with asyncio.TaskGroup() as group:
        slow = group.create_task(corpus.ingest(site.url("/slow")))
        await site.wait_for_requests(2)
        assert (await corpus.ingest(wax_url)).chunks
        slow.cancel()


async def test_a_silent_page_keeps_no_other_from_being_read(parts, site, pass_by, wax_url):
    corpus = parts.corpus(concurrency=1)
    site.put("/slow", silent())
    request = IngestRequest(url=(site.url("/slow"), wax_url))
    is_read = asyncio.Event()

    def told(message: str) -> None:
        if message.startswith("Indexed"):
            is_read.set()

    async with asyncio.TaskGroup() as group:
        task = group.create_task(corpus.ingest_all(request, deadline=soon(60), progress=told))
        await site.wait_for_requests(1)
        pass_by(2)
        await is_read.wait()
        assert not task.done()
        pass_by(60)
    assert [bool(page.chunks) for page in task.result().pages] == [False, True]


async def test_a_call_that_is_cancelled_leaves_nothing_behind(corpus, site, page_of):
    site.put("/a", silent())
    before = asyncio.all_tasks()
    async with asyncio.TaskGroup() as group:
        task = group.create_task(corpus.ingest(site.url("/a")))
        async with asyncio.timeout(30):
            await site.wait_for_requests(1)
        task.cancel()
    assert task.cancelled()
    if left := asyncio.all_tasks() - before:
        await asyncio.wait(left, timeout=30)
    assert asyncio.all_tasks() <= before
    assert (await corpus.status(StatusRequest())).documents == 0
    site.put("/a", page_of("Bees make wax."))
    assert (await corpus.ingest(site.url("/a"))).new_chunks == 1


async def test_a_page_is_kept_under_the_address_that_was_asked_for(corpus, site, page_of):
    site.put("/old", redirect("/new"))
    site.put("/new", page_of("Bees make wax."))
    old = await corpus.ingest(site.url("/old"))
    new = await corpus.ingest(site.url("/new"))
    assert old.page.url == site.url("/old")
    assert old.page.final_url == new.page.final_url == site.url("/new")
    found = await corpus.retrieve("wax", urls=None, limit=10)
    assert len(found.hits) == 1, "one text is shown once"
    assert {found.hits[0].url, *found.hits[0].copies} == {old.url, new.url}


@pytest.mark.parametrize(
    ("url", "address"),
    [
        ("https://a.example", "https://a.example/"),
        ("HTTPS://A.Example:443/Path?q=1", "https://a.example/Path?q=1"),
        ("http://a.example:80/", "http://a.example/"),
        ("http://a.example:8080/", "http://a.example:8080/"),
        ("https://a.example./x", "https://a.example/x"),
        ("https://a.example/x#part", "https://a.example/x"),
        ("https://a.example/x.pdf#page=3", "https://a.example/x.pdf#page=3"),
        ("https://github.com/a/b/blob/main/c.py#L3-L9", "https://github.com/a/b/blob/main/c.py#L3-L9"),
        ("https://bücher.example/ä", "https://xn--bcher-kva.example/%C3%A4"),
        ("https://xn--bcher-kva.example/%c3%a4", "https://xn--bcher-kva.example/%C3%A4"),
        ("https://a.example/a/../b", "https://a.example/b"),
        ("https://a.example/?", "https://a.example/"),
        ("no address", "no address"),
        ("http://[::1", "http://[::1"),
        ("http://[]@", "http://[]@"),
        (f"http://{'ä' * 4_000}.example/", f"http://{'ä' * 4_000}.example/"),
    ],
)  # fmt: skip
def test_an_address_has_one_spelling(url, address):
    assert address_of(url) == address
    assert address_of(address) == address


@pytest.mark.parametrize("url", ["no address", "http://[::1", "ftp://a.example/", "http://[]@"])
async def test_what_is_no_address_is_an_error_of_the_call(corpus, url):
    done = await corpus.ingest(url)
    assert done.error is not None
    assert done.error.code in {ErrorCode.INVALID_ARGUMENT, ErrorCode.BLOCKED_SCHEME}


async def test_chunks_have_the_tokens_that_are_set(parts, site, sections_of):
    site.put("/a", sections_of("Bees make wax.", "Bees make honey."))
    usual = await parts.corpus().ingest(site.url("/a"))
    small = await parts.corpus(chunk_tokens=64).ingest(site.url("/a"))
    assert len(usual.chunks) == 2
    assert max(chunk.tokens for chunk in small.chunks) <= 80, "about as many"
    assert usual.page.extractor != small.page.extractor, "a changed setting makes chunks anew"


async def test_what_an_earlier_version_made_is_made_anew(parts, site, sections_of, clock, pages):
    site.put("/a", sections_of("Bees make wax.", "Bees make honey."))
    store = parts.store(None)
    first = await parts.corpus(store=store).ingest(site.url("/a"))
    await pages.purge()
    corpus = parts.corpus(store=store, chunk_tokens=64)
    again = await corpus.ingest(site.url("/a"))
    assert "If-None-Match" not in site.requests[1].headers
    assert len(again.chunks) > len(first.chunks)
    assert await corpus.chunks(site.url("/a")) == again.chunks


async def test_a_page_that_may_be_stored_by_now_is_no_longer_held(corpus, site, page_of, clock):
    site.put("/a", page_of("Bees make wax.", headers={"Cache-Control": "no-store"}))
    held = await corpus.ingest(site.url("/a"))
    clock.advance(REFRESH_PAUSE)
    again = await corpus.ingest(site.url("/a"), force=True)
    assert again.new_chunks == 0, "they are held already"
    clock.advance(REFRESH_PAUSE)
    site.put("/a", page_of("Bees make wax."))
    await corpus.ingest(site.url("/a"), force=True)
    clock.advance(HELD_FOR)
    assert await corpus.chunks(site.url("/a")) == held.chunks
    assert (await corpus.status(StatusRequest())).documents == 1


async def test_only_some_pages_are_held_at_once(corpus, site, page_of):
    urls = [
        site.put(f"/{n}", page_of(f"Hive {n}.", headers={"Cache-Control": "no-store"}))
        or site.url(f"/{n}")
        for n in range(34)
    ]
    for url in urls:
        await corpus.ingest(url)
    assert [page.url for page in await corpus.pages(urls)] == urls[2:]


@pytest.mark.parametrize("place", ["file"], indirect=True)
async def test_a_file_that_is_busy_costs_no_more_than_the_time_of_a_call(corpus, place, wax_url):
    await corpus.status(StatusRequest())
    with closing(sqlite3.connect(place)) as other:
        other.execute("BEGIN IMMEDIATE")
        done = await corpus.ingest(wax_url, deadline=soon(3))
        assert done.error.code == ErrorCode.DEADLINE_EXCEEDED
        other.rollback()
    assert (await corpus.ingest(wax_url, deadline=soon(10))).error is None


async def test_no_question_and_no_page_is_in_the_log(corpus, caplog, wax_url):
    caplog.set_level(logging.INFO)
    await corpus.read(ReadRequest(url=wax_url, query=("secretquestion wax",)))
    assert "secretquestion" not in caplog.text
    assert "Bees" not in caplog.text

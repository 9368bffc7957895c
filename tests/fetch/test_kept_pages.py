"""Pages that were captured before: served again, asked about, read on with a cursor."""

import asyncio
import logging
from dataclasses import replace

import pytest

from searx_mcp.errors import CursorError, ErrorCode, InvalidArgumentError, PolicyError, SiteError
from searx_mcp.models.fetch_request import FetchRequest
from searx_mcp.storage.pages import Validators

SENTENCE = "The quick brown fox jumps over the lazy dog near the bank of the river. "
DAY = 86_400


def article(word: str = "Foxes") -> str:
    return (
        f"<html><head><title>{word}</title></head><body><main><h1>{word}</h1>"
        f"<p>{SENTENCE * 5}</p><h2 id=food>Food</h2><p>{SENTENCE * 5}</p>"
        f"<h2 id=homes>Homes</h2><p>{SENTENCE * 5}</p></main></body></html>"
    )


async def fetch(fetcher, url="", **fields):
    return await fetcher.fetch(FetchRequest(url=url, **fields))


async def test_a_fresh_page_is_served_again_without_asking(site, fetcher, clock, caplog):
    caplog.set_level(logging.DEBUG, "searx_mcp.fetch")
    url = site.page("/", article())
    first = await fetch(fetcher, url)
    clock.time += 299
    caplog.clear()
    second = await fetch(fetcher, url)
    assert len(site.requests) == 1
    assert (first.from_cache, second.from_cache) == (False, True)
    assert (first.age_seconds, second.age_seconds) == (0, 299)
    assert caplog.messages[0] == "fetch.cache_hit age_s=299 kind=fresh"
    assert [each.partition(" ")[0] for each in caplog.messages[1:]] == ["fetch.done"]
    assert first.fetched_at == second.fetched_at == "2026-09-21T14:13:20+00:00"
    assert (second.markdown_content, second.cursor) == (first.markdown_content, first.cursor)


@pytest.mark.parametrize(
    ("headers", "seconds", "requests"),
    [
        ({}, 301, 2),
        ({"Cache-Control": "max-age=7200"}, 7_000, 1),
        ({"Cache-Control": "no-store"}, 0, 2),
        ({"Cache-Control": "max-age=50"}, 49, 1),
        ({"Cache-Control": "max-age=50"}, 50, 2),
    ],
)
async def test_a_page_serves_for_as_long_as_its_site_says(
    site, fetcher, clock, headers, seconds, requests
):
    url = site.page("/", article(), headers=headers)
    await fetch(fetcher, url)
    clock.time += seconds
    await fetch(fetcher, url)
    assert len(site.requests) == requests


async def test_a_page_that_has_not_changed_is_not_sent_again(site, fetcher, clock):
    url = site.page("/", article(), headers={"ETag": '"v1"', "Last-Modified": "then"})
    first = await fetch(fetcher, url)
    site.page("/", "", status="304 Not Modified", headers={"Cache-Control": "max-age=900"})
    clock.time += 400
    second = await fetch(fetcher, url)
    assert site.requests[1].headers["If-None-Match"] == '"v1"'
    assert second.markdown_content == first.markdown_content
    assert second.from_cache
    assert second.age_seconds == 0
    clock.time += 800
    await fetch(fetcher, url)
    assert len(site.requests) == 2


async def test_a_page_that_has_changed_takes_the_place_of_the_old_one(site, fetcher, clock):
    url = site.page("/", article("Foxes"), headers={"ETag": '"v1"'})
    first = await fetch(fetcher, url)
    site.page("/", article("Badgers"), headers={"ETag": '"v2"'})
    clock.time += 400
    second = await fetch(fetcher, url)
    assert second.title == "Badgers"
    assert second.cursor != first.cursor
    again = await fetch(fetcher, cursor=first.cursor)
    assert again.title == "Foxes", "a cursor reads on in what it was given for"


async def test_validators_go_to_the_address_they_came_from(site, other, fetcher, clock):
    target = other.page("/page", article(), headers={"ETag": '"v1"'})
    url = site.redirect("/", target)
    await fetch(fetcher, url)
    clock.time += 400
    await fetch(fetcher, url)
    assert "If-None-Match" not in site.requests[1].headers
    assert other.requests[1].headers["If-None-Match"] == '"v1"'


async def test_a_forced_refresh_fetches_whatever_is_kept_and_says_nothing_of_it(site, fetcher):
    url = site.page("/", article(), headers={"ETag": '"v1"'})
    await fetch(fetcher, url)
    page = await fetch(fetcher, url, force_refresh=True)
    assert not page.from_cache
    assert "If-None-Match" not in site.requests[1].headers


@pytest.mark.parametrize(
    ("status", "seconds", "is_served"),
    [
        ("503 Service Unavailable", 400, True), ("500 Internal Server Error", DAY - 1, True),
        ("429 Too Many Requests", 400, True), ("503 Service Unavailable", DAY + 1, False),
        ("404 Not Found", 400, False), ("410 Gone", 400, False), ("403 Forbidden", 400, False),
        ("401 Unauthorized", 400, False),
    ],
)  # fmt: skip
async def test_a_kept_page_serves_for_a_site_that_fails_but_not_for_one_that_refuses(
    site, fetcher, clock, status, seconds, is_served
):
    url = site.page("/", article())
    await fetch(fetcher, url)
    site.page("/", "down", status=status)
    clock.time += seconds
    if is_served:
        page = await fetch(fetcher, url)
        assert page.from_cache
        assert page.title == "Foxes"
        assert any("failed just now" in note for note in page.notes)
    else:
        with pytest.raises(SiteError):
            await fetch(fetcher, url)


async def test_a_kept_page_serves_when_the_site_is_gone(site, other, fetcher, clock):
    url = other.page("/", article())
    await fetch(fetcher, url)
    await other.aclose()
    clock.time += 400
    page = await fetch(fetcher, url)
    assert "connection_error" in page.notes[0]


@pytest.mark.parametrize("named", ["max_chars", "limit"])
async def test_everything_that_was_captured_can_be_read_on_with_the_cursor(site, fetcher, named):
    url = site.page("/", article())
    page = await fetch(fetcher, url, **{named: 300})
    text = page.markdown_content
    assert len(text) <= 300
    assert page.truncated
    while page.next_offset is not None:
        page = await fetch(fetcher, cursor=page.cursor, offset=page.next_offset, limit=300)
        assert page.offset == len(text)
        text += page.markdown_content
    whole = await fetch(fetcher, url)
    assert (text, len(text)) == (whole.markdown_content, page.total_chars)
    assert len(site.requests) == 1


async def test_a_cursor_is_good_in_another_process_with_the_same_store(site, make_fetcher):
    first = await fetch(make_fetcher(), site.page("/", article()))
    page = await fetch(make_fetcher(), cursor=first.cursor)
    assert (page.markdown_content, page.url) == (first.markdown_content, site.at("/"))
    assert page.from_cache


async def test_a_cursor_of_another_namespace_finds_nothing(site, make_fetcher):
    first = await fetch(make_fetcher(namespace="one"), site.page("/", article()))
    with pytest.raises(CursorError):
        await fetch(make_fetcher(namespace="two"), cursor=first.cursor)


async def test_an_expired_cursor_with_the_address_beside_it_fetches_the_page(site, fetcher):
    page = await fetch(fetcher, site.page("/", article()), cursor="abcdefgh234567ab")
    assert page.title == "Foxes"
    assert any("cursor had expired" in note for note in page.notes)


async def test_an_offset_behind_the_end_is_the_callers_mistake(site, fetcher):
    page = await fetch(fetcher, site.page("/", article()))
    with pytest.raises(InvalidArgumentError, match=f"the page has {page.total_chars} characters"):
        await fetch(fetcher, cursor=page.cursor, offset=page.total_chars)


async def test_the_fragment_of_an_address_is_told_to_be_a_section(site, fetcher):
    page = await fetch(fetcher, site.page("/", article()) + "#homes")
    assert page.notes == ('The address points into the page: its section is "#homes".',)
    assert site.requests[0].path == "/"


async def test_the_question_is_kept_nowhere(site, fetcher, store, clock):
    page = await fetch(fetcher, site.page("/", article()), prompt="my secret question")
    kept = await store.read("default", page.cursor, clock())
    assert "secret" not in kept.capture.page.model_dump_json()
    assert "secret" not in repr(kept)


async def test_equal_calls_at_the_same_time_share_one_request(site, fetcher):
    url = site.page("/", article())
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(fetch(fetcher, url)) for _ in range(20)]
    assert (len(site.requests), site.robots_requests) == (1, 1)
    assert {task.result().markdown_content for task in tasks} == {
        tasks[0].result().markdown_content
    }


async def test_calls_that_want_other_things_do_not_share(site, fetcher):
    url = site.page("/", article())
    async with asyncio.TaskGroup() as group:
        group.create_task(fetch(fetcher, url))
        group.create_task(fetch(fetcher, url, user_agent="probe/1"))
        group.create_task(fetch(fetcher, url, max_content_length=2_048))
    assert len(site.requests) == 3


SLOW = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 99\r\n\r\nsome words"


@pytest.fixture
def roomy(monkeypatch):
    """Leaves nearly all of a call's time to the conversion, so that a body is cut soon."""
    monkeypatch.setattr("searx_mcp.fetch.capture._CONVERSION_SHARE", 0.95)
    monkeypatch.setattr("searx_mcp.fetch.capture._MAX_CONVERSION_TIME", 60.0)


@pytest.mark.usefixtures("roomy")
async def test_a_caller_who_leaves_does_not_take_the_page_from_the_others(site, fetcher):
    url, end = site.raw("/", SLOW), asyncio.get_running_loop().time() + 20
    async with asyncio.TaskGroup() as group:
        leaving, staying = (
            group.create_task(fetcher.fetch(FetchRequest(url=url), deadline=end)) for _ in range(2)
        )
        await site.until_asked()
        leaving.cancel()
    assert leaving.cancelled()
    assert staying.result().markdown_content == "some words"
    assert len(site.requests) == 1


@pytest.mark.usefixtures("roomy")
async def test_a_caller_with_less_time_has_what_came_by_then(site, fetcher):
    url, now = site.raw("/", SLOW), asyncio.get_running_loop().time()
    async with asyncio.TaskGroup() as group:
        patient = group.create_task(fetcher.fetch(FetchRequest(url=url), deadline=now + 59))
        await site.until_asked()
        hasty = await fetcher.fetch(FetchRequest(url=url), deadline=now + 20)
        patient.cancel()
    assert hasty.truncated
    assert len(site.requests) == 2


@pytest.mark.usefixtures("roomy")
async def test_a_caller_with_more_time_does_not_share_a_page_cut_by_anothers_deadline(
    site, fetcher
):
    url, now = site.raw("/", SLOW), asyncio.get_running_loop().time()
    async with asyncio.TaskGroup() as group:
        hasty = group.create_task(fetcher.fetch(FetchRequest(url=url), deadline=now + 20))
        await site.until_asked()
        patient = group.create_task(fetcher.fetch(FetchRequest(url=url), deadline=now + 59))
        await asyncio.sleep(0)
        site.page("/", "all of the words", content_type="text/plain")
    assert hasty.result().truncated
    assert patient.result().markdown_content == "all of the words"


@pytest.mark.usefixtures("roomy")
async def test_a_page_cut_by_a_deadline_does_not_serve_the_next_call(site, fetcher):
    url, now = site.raw("/", SLOW), asyncio.get_running_loop().time()
    page = await fetcher.fetch(FetchRequest(url=url), deadline=now + 20)
    assert page.truncated
    site.page("/", "all of the words", content_type="text/plain")
    assert (await fetch(fetcher, url)).markdown_content == "all of the words"


async def test_a_redirect_that_is_not_followed_is_not_kept(site, fetcher):
    url = site.redirect("/", "/next")
    site.page("/next", article())
    page = await fetch(fetcher, url, follow_redirects=False)
    assert page.cursor == ""
    assert (await fetch(fetcher, url)).title == "Foxes"


async def test_a_person_may_switch_robots_off_and_the_page_says_so(site, fetcher):
    site.page("/robots.txt", "User-agent: *\nDisallow: /", content_type="text/plain")
    url = site.page("/", article())
    page = await fetch(fetcher, url, by_person=True, ignore_robots=True)
    assert page.robots == "ignored"
    assert site.robots_requests == 0


@pytest.mark.parametrize(
    ("content_type", "begin", "end"),
    [
        ("text/html", f"<main><p>{SENTENCE * 4}<a href='", "'>the target</a></p></main>"),
        *((kind, '"See ', ' for more."') for kind in ("text/plain", "text/markdown", "application/json")),
    ],
    ids=["a link", "text", "Markdown", "data"],
)  # fmt: skip
async def test_addresses_on_pages_that_were_read_count_as_seen(
    site, make_fetcher, content_type, begin, end
):
    fetcher = make_fetcher(fetch={"policy": "seen"})
    target = site.page("/target", article("Target"))
    with pytest.raises(PolicyError, match="found by a search") as caught:
        await fetch(fetcher, target)
    assert caught.value.code is ErrorCode.BLOCKED_DOMAIN
    start = site.page("/", f"{begin}{target}{end}", content_type=content_type)
    assert (await fetch(fetcher, start, by_person=True)).provenance == "person"
    fetcher.remember([start], "search")
    assert (await fetch(fetcher, start)).provenance == "search"
    assert (await fetch(fetcher, target)).provenance == "link"


@pytest.mark.parametrize(
    ("first", "then", "requests"),
    [((1_024, 1_024, True), (8_192, 5_000, False), 2), ((None, 5_000, False), (1_024, 1_024, True), 2)],
    ids=["more", "fewer"],
)  # fmt: skip
async def test_a_call_has_as_many_bytes_as_it_allows(site, fetcher, first, then, requests):
    url = site.page("/", "word " * 1_000, content_type="text/plain")
    for most, length, is_cut in (first, then):
        page = await fetch(fetcher, url, max_content_length=most)
        assert (page.content_length, page.truncated, page.next_offset) == (length, is_cut, None)
    assert len(site.requests) == requests


async def test_an_unknown_address_that_carries_a_long_random_text_is_noted(site, fetcher):
    path = "/c?d=aGVyZSBpcyB0aGUgd2hvbGUgY29udmVyc2F0aW9uIHdpdGggYWxsIG9mIHRoZSBzZWNyZXRzIGluIGl0"
    page = await fetch(fetcher, site.page(path, article()))
    assert any("conversation" in note for note in page.notes)
    page = await fetch(fetcher, site.page("/plain", article()))
    assert page.notes == ()


async def test_a_page_is_read_whole_whatever_part_the_request_names(site, fetcher):
    url = site.page("/", article())
    reading = await fetcher.read(FetchRequest(url=url, max_chars=100, section="Food"))
    again = await fetcher.read(FetchRequest(url=url))
    document = reading.kept.capture.page.document
    assert [heading.title for heading in document.outline] == ["Foxes", "Food", "Homes"]
    assert (reading.is_new, again.is_new) == (True, False)
    assert again.kept == reading.kept
    assert len(site.requests) == 1


async def test_what_a_caller_has_of_a_page_is_asked_about_where_nothing_is_cached(
    site, make_fetcher, store, clock
):
    url = site.page("/", article(), headers={"ETag": '"v1"'})
    fetcher = make_fetcher()
    first = await fetcher.read(FetchRequest(url=url))
    await store.purge()
    site.page("/", "", status="304 Not Modified", headers={"Cache-Control": "max-age=900"})
    clock.time += 400
    second = await fetcher.read(FetchRequest(url=url), previous=first.kept)
    assert site.requests[1].headers["If-None-Match"] == '"v1"'
    assert not second.is_new
    assert second.kept.capture.page == first.kept.capture.page
    assert second.kept.capture.fetched_at == clock.time


async def test_what_a_caller_has_of_a_page_is_given_to_no_other(site, fetcher, store, clock):
    url = site.page("/", article(), headers={"ETag": '"v1"'})
    first = await fetcher.read(FetchRequest(url=url))
    await store.purge()
    site.page("/", "", status="304 Not Modified")
    clock.time += 400
    async with asyncio.TaskGroup() as group:
        own = group.create_task(fetcher.read(FetchRequest(url=url), previous=first.kept))
        await site.until_asked(2)
        site.page("/", article())
        other = group.create_task(fetcher.fetch(FetchRequest(url=url)))
    assert own.result().kept.cursor == ""
    assert not other.result().from_cache
    assert [len(request.headers.getall("If-None-Match", [])) for request in site.requests] == [
        0,
        1,
        0,
    ]


async def test_the_later_of_what_is_cached_and_what_a_caller_has_is_asked_about(
    site, fetcher, clock
):
    url = site.page("/", article(), headers={"ETag": '"v1"'})
    first = await fetcher.read(FetchRequest(url=url))
    clock.time += 400
    capture = replace(first.kept.capture, fetched_at=clock.time, validators=Validators('"v2"'))
    await fetcher.read(FetchRequest(url=url), previous=replace(first.kept, capture=capture))
    assert site.requests[1].headers["If-None-Match"] == '"v2"'


async def test_a_page_that_may_not_be_stored_says_so(site, fetcher):
    url = site.page("/", article(), headers={"Cache-Control": "no-store", "ETag": '"v1"'})
    first = await fetcher.read(FetchRequest(url=url))
    site.page("/", "", status="304 Not Modified")
    second = await fetcher.read(FetchRequest(url=url), previous=first.kept)
    assert [first.kept.may_store, second.kept.may_store] == [False, False]

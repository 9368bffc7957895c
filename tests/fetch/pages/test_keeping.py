"""How long captures serve, and which of them are kept."""

import pytest

from searx_mcp.errors import CursorError
from searx_mcp.fetch.config import FetchConfig
from searx_mcp.fetch.pages.keeping import PageKeeper
from searx_mcp.models.document import Document
from searx_mcp.storage.memory import MemoryPageStore
from searx_mcp.storage.pages import KeptPage, PageStore, Validators

URL = "https://example.com/"
DAY = 86_400


class Clock:
    """Unix seconds that only a test moves."""

    def __init__(self) -> None:
        self.time = 1_790_000_000.0

    def __call__(self) -> float:
        return self.time


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def store() -> PageStore:
    return MemoryPageStore(max_bytes=1 << 20, max_age=7 * DAY)


def keeper(store: PageStore, clock: Clock, namespace: str = "default", **config) -> PageKeeper:
    return PageKeeper(
        store, namespace=namespace, config=FetchConfig.model_validate(config), clock=clock
    )


def document(markdown: str = "Some words.") -> Document:
    return Document(
        final_url=URL,
        content_type="text/html",
        content_length=len(markdown),
        status_code=200,
        markdown=markdown,
        word_count=2,
    )


async def keep(pages: PageKeeper, *, is_settled: bool = True, **headers: str) -> KeptPage:
    return await pages.keep(
        pages.key(URL, variant=""),
        document(),
        url=URL,
        status=200,
        headers={name.replace("_", "-"): value for name, value in headers.items()},
        max_bytes=1_024,
        is_settled=is_settled,
    )


async def test_what_is_kept_is_found_by_address_and_by_cursor(store, clock):
    pages = keeper(store, clock)
    kept = await keep(pages, ETag='"v1"')
    assert await pages.find(pages.key(URL, variant="")) == kept
    assert (await pages.read(kept.cursor)).capture.document == document()
    assert kept.capture.validators == Validators(etag='"v1"')


@pytest.mark.parametrize(
    ("headers", "ttl", "seconds"),
    [({}, 300, 300), ({}, 0, 0), ({"Cache_Control": "max-age=50"}, 300, 50)],
)
async def test_a_capture_is_fresh_for_as_long_as_the_site_or_else_the_settings_say(
    store, clock, headers, ttl, seconds
):
    pages = keeper(store, clock, cache_ttl=ttl)
    kept = await keep(pages, **headers)
    if seconds:
        clock.time += seconds - 1
        assert pages.is_fresh(kept)
        clock.time += 1
    assert not pages.is_fresh(kept)


async def test_what_was_cut_by_chance_is_neither_fresh_nor_asked_about(store, clock):
    pages = keeper(store, clock)
    kept = await keep(pages, is_settled=False, ETag='"v1"', Cache_Control="max-age=900")
    assert not pages.is_fresh(kept)
    assert kept.capture.validators == Validators()
    assert (await pages.read(kept.cursor)).capture.document == document()


async def test_what_must_not_be_stored_never_comes_to_the_store(store, clock):
    pages = keeper(store, clock)
    kept = await keep(pages, Cache_Control="no-store")
    assert await store.find(pages.key(URL, variant=""), clock()) is None
    assert await pages.find(pages.key(URL, variant="")) is None
    assert (await pages.read(kept.cursor)).capture.document == document()
    clock.time += 601
    with pytest.raises(CursorError):
        await pages.read(kept.cursor)


async def test_a_renewed_capture_is_as_new_and_keeps_its_cursor(store, clock):
    pages = keeper(store, clock)
    kept = await keep(pages, ETag='"v1"')
    clock.time += 1_000
    assert not pages.is_fresh(kept)
    key = pages.key(URL, variant="")
    renewed = await pages.renew(key, kept, status=304, headers={})
    assert pages.is_fresh(renewed)
    assert pages.age(renewed) == 0
    assert renewed.cursor == kept.cursor
    assert renewed.capture.validators == kept.capture.validators


async def test_a_page_that_must_not_be_stored_any_more_retires_the_one_that_was(store, clock):
    pages = keeper(store, clock)
    old = await keep(pages, Cache_Control="max-age=900")
    await keep(pages, Cache_Control="no-store")
    found = await pages.find(pages.key(URL, variant=""))
    assert found is not None
    assert not pages.is_fresh(found)
    assert not pages.is_spare(found)
    assert (await pages.read(old.cursor)).capture.document == document()


async def test_news_that_a_page_has_not_changed_may_bring_new_validators(store, clock):
    pages = keeper(store, clock)
    kept = await keep(pages, ETag='"v1"', Cache_Control="must-revalidate")
    key = pages.key(URL, variant="")
    renewed = await pages.renew(key, kept, status=304, headers={"ETag": '"v2"'})
    assert renewed.capture.validators == Validators(etag='"v2"')
    assert not pages.is_spare(renewed)


async def test_an_old_capture_is_a_spare_for_a_day(store, clock):
    pages = keeper(store, clock)
    kept = await keep(pages)
    clock.time += DAY
    assert pages.is_spare(kept)
    clock.time += 1
    assert not pages.is_spare(kept)


async def test_a_site_may_forbid_to_serve_what_is_old(store, clock):
    pages = keeper(store, clock)
    kept = await keep(pages, Cache_Control="must-revalidate")
    clock.time += 400
    assert not pages.is_spare(kept)


async def test_namespaces_do_not_see_each_other(store, clock):
    ours, theirs = keeper(store, clock, "ours"), keeper(store, clock, "theirs")
    kept = await keep(ours)
    assert await theirs.find(theirs.key(URL, variant="")) is None
    with pytest.raises(CursorError) as caught:
        await theirs.read(kept.cursor)
    assert "url" in caught.value.advice

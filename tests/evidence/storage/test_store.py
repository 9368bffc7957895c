"""What a store of the corpus keeps and finds, in a file, in memory and on a server alike."""

import secrets
from collections.abc import AsyncIterator, Callable
from dataclasses import fields, replace
from typing import Any

import pytest

from searx_mcp.content import words
from searx_mcp.evidence.storage import rows
from searx_mcp.evidence.storage.postgres import PostgresCorpusStore
from searx_mcp.evidence.storage.sqlite import SqliteCorpusStore
from searx_mcp.evidence.storage.store import (
    CorpusStore,
    Kept,
    PageHead,
)

NOW = 1_000_000_000.0
DAY = 86_400.0
URL = "https://a.example/"
OTHER = "https://b.example/"


@pytest.fixture(params=["file", "memory", pytest.param("postgres", marks=pytest.mark.slow)])
async def store_for(request, path) -> AsyncIterator[Callable[..., CorpusStore]]:
    """Make stores of namespaces: all in one file or on one server, or each in memory."""
    made: list[CorpusStore] = []
    schema = f"test_{secrets.token_hex(6)}"

    def make(
        namespace: str = "mine", *, max_bytes: int = 1 << 26, max_age: float = 7 * DAY
    ) -> CorpusStore:
        given: Any = {"namespace": namespace, "max_bytes": max_bytes, "max_age": max_age}
        if request.param == "postgres":
            url = request.getfixturevalue("postgres_url")
            made.append(PostgresCorpusStore(url, **given, patience=30, schema=schema))
        else:
            made.append(SqliteCorpusStore(path if request.param == "file" else None, **given))
        return made[-1]

    yield make
    for store in made:
        await store.aclose()


@pytest.fixture
def store(store_for):
    return store_for()


async def kept(store) -> list[str]:
    return [head.url for head in await store.heads()]


async def test_a_kept_page_is_given_back_with_its_chunks(store, made):
    page, chunks = made(["Bees make wax.", "Wärme 🐝 ist alles.", "Bees make wax."])
    assert await store.keep(page, chunks, NOW) == Kept(new=2, reused=0, removed=0)
    assert await store.page(URL) == page
    assert await store.chunks(URL) == tuple(chunks[:2]), "of equal ones the first"
    known = {f.name: getattr(page, f.name) for f in fields(PageHead) if hasattr(page, f.name)}
    head = PageHead(**known, chunks=2, tokens=sum(chunk.tokens for chunk in chunks[:2]))
    assert await store.head(URL) == head
    assert await store.heads() == (head,)


async def test_what_is_not_kept_is_nothing_and_no_error(store):
    assert await store.page(URL) is None
    assert await store.head(URL) is None
    assert await store.chunks(URL) == ()
    assert await store.match(["bees"], urls=None, limit=5) == ()
    assert await store.match(["bees"], urls=[URL], limit=5) == ()
    assert await store.frequencies(["bees"]) == (0, {"bees": 0})
    assert await store.vectors("m", ["x"]) == {}
    assert await store.unembedded("m", 5) == ()
    assert await store.remove([URL]) == 0
    assert [page async for page in store.export()] == []
    await store.pin([URL], NOW)
    await store.renew(URL, fetched_at=NOW, fresh_until=NOW, etag="", last_modified="")
    await store.keep_vectors("m", {"x": b"12"})
    assert (await store.totals()).documents == 0


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (["a1", "b2"], ["a1", "b2"], Kept(new=0, reused=2, removed=0)),
        (["a1", "b2"], ["b2", "a1"], Kept(new=0, reused=2, removed=0)),
        (["a1", "b2", "c3"], ["a1", "d4", "c3"], Kept(new=1, reused=2, removed=1)),
        (["a1", "b2"], [], Kept(new=0, reused=0, removed=2)),
        ([], ["a1"], Kept(new=1, reused=0, removed=0)),
    ],
)
async def test_a_page_read_again_keeps_its_unchanged_chunks_with_their_vectors(
    store, before, after, expected, made, found
):
    page, chunks = made(before)
    await store.keep(page, chunks, NOW)
    await store.keep_vectors("m", {chunk.id: chunk.text.encode() for chunk in chunks})
    again, now_chunks = made(after, etag='"2"', fetched_at=NOW + 60)
    assert await store.keep(again, now_chunks, NOW + 60) == expected
    assert await store.page(URL) == again
    assert await store.chunks(URL) == tuple(now_chunks), "in their new order, at their new places"
    stayed = {chunk.id: chunk.text.encode() for chunk in now_chunks if chunk.text in before}
    assert await store.vectors("m", [chunk.id for chunk in (*chunks, *now_chunks)]) == stayed
    for text in {*before, *after}:
        assert await found(store, text) == ([text] if text in after else [])


async def test_a_page_with_another_title_is_found_under_it_and_no_more_under_the_old_one(
    store, made, found
):
    page, chunks = made(["Bees make wax."], title="Apiary")
    await store.keep(page, chunks, NOW)
    assert await found(store, "apiary") == ["Bees make wax."]
    assert await store.keep(replace(page, title="Meadow"), chunks, NOW) == Kept(0, 1, 0)
    assert await found(store, "apiary") == []
    assert await found(store, "meadow") == ["Bees make wax."]


async def test_a_renewed_page_has_new_times_and_validators_and_the_same_text(store, made):
    page, chunks = made(["Bees make wax."])
    await store.keep(page, chunks, NOW)
    new = replace(page, fetched_at=NOW + 9, fresh_until=NOW + 99, etag='"2"', last_modified="")
    await store.renew(URL, fetched_at=NOW + 9, fresh_until=NOW + 99, etag='"2"', last_modified="")
    assert await store.page(URL) == new
    assert await store.chunks(URL) == tuple(chunks)


# Finding


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("What do hives cost?", "The cost of a hive is 300 dollars."),
        ("priced", "Prices rise."),
        ("how to use it", "Using it needs a key."),
        ("cached", "It caches what it read."),
        ("warmepumpe", "Die Wärmepumpen im Haus"),
        ("температура воды", "Нормальная температуры"),
        ("智能", "我们研究人工智能系统。"),
        ("機械学習とは何ですか", "機械学習の入門です。"),
        ("ราคาน้ำมัน", "วันนี้ราคาน้ำมันดิบเพิ่มขึ้น"),
        ("الكتاب", "هذا كتاب قديم"),
        ("तापमान", "अधिकतम तापमान क्या है"),
        ("release 3.14", "Python 3.14 is out"),
        ("1,000 bees", "more than 1,000 of them"),
        ("o'brien", "Mr. O\u2019Brien left"),
        ("C++ AND NOT NEAR(", "C and NEAR"),
    ],
)
async def test_a_question_finds_what_shares_a_word_with_it_in_any_script(
    store, question, text, made, found
):
    page, chunks = made([text, "Something else entirely", "全然別のこと"])
    await store.keep(page, chunks, NOW)
    assert (await found(store, question))[0] == text


@pytest.mark.parametrize("question", ["", "what is the", "a OR b", '"', "zzz* ^x page : p1", "\0"])
async def test_a_question_without_a_word_that_is_there_finds_nothing(store, question, made, found):
    page, chunks = made(["The quick fox is what it is"])
    await store.keep(page, chunks, NOW)
    assert await found(store, question) == []
    assert await store.match([question], urls=None, limit=5) == ()


async def test_titles_and_headings_count_more_than_the_text(store, made):
    first, chunks = made(["wax and much more to read"], title="Bees")
    second, others = made(["much more to read and so on"], OTHER, path=("On wax",), title="")
    await store.keep(first, chunks, NOW)
    await store.keep(second, others, NOW)
    matches = await store.match(["wax"], urls=None, limit=5)
    assert [match.url for match in matches] == [OTHER, URL]
    assert [match.title for match in matches] == ["", "Bees"]
    assert matches[0].bm25 > matches[1].bm25 > 0


async def test_the_scope_and_the_limit_of_a_search_are_kept_to(store, made):
    for url in (URL, OTHER, "https://c.example/"):
        await store.keep(*made([f"Wax number {n} {url}" for n in range(4)], url), NOW)
    scoped = await store.match(["wax"], urls=[URL, OTHER, "https://none.example/"], limit=20)
    assert {match.url for match in scoped} == {URL, OTHER}
    assert len(scoped) == 8
    assert len(await store.match(["wax"], urls=None, limit=5)) == 5
    assert await store.match(["wax"], urls=["https://none.example/"], limit=5) == ()
    assert await store.match(["wax"], urls=[], limit=5) == ()
    many = [URL, *(f"https://{n}.example/" for n in range(2_000))]
    assert len(await store.match(["wax"], urls=many, limit=20)) == 4


async def test_many_pages_and_many_terms_can_be_named(store, made):
    urls = [f"https://a.example/{n}" for n in range(400)]
    for url in urls[::10]:
        await store.keep(*made([f"wax at {url}"], url), NOW)
    assert len(await store.match(["wax"], urls=urls, limit=1_000)) == 40
    terms = words.terms(" ".join(f"word{n}" for n in range(900)))
    assert len(await store.match([*terms, "wax"], urls=None, limit=9)) == 9


async def test_frequencies_count_the_chunks_that_have_a_term(store, made):
    await store.keep(*made(["Bees make wax.", "Wax melts. Wax burns.", "Honey"]), NOW)
    await store.keep(*made(["More wax"], OTHER), NOW)
    assert await store.frequencies(["wax", "honey", "none"]) == (
        4,
        {"wax": 3, "honey": 1, "none": 0},
    )
    assert await store.frequencies(["wax", "honey"], urls=[OTHER]) == (1, {"wax": 1, "honey": 0})
    assert await store.frequencies(["wax"], urls=[]) == (0, {"wax": 0})


# Vectors


async def test_vectors_are_kept_by_model_and_those_of_two_models_at_most(store, made):
    page, chunks = made(["Bees", "Wax", "Honey"])
    await store.keep(page, chunks, NOW)
    ids = [chunk.id for chunk in chunks]
    assert await store.unembedded("old/256", 2) == tuple(chunks[:2])
    await store.keep_vectors("old/256", dict(zip(ids, [b"1a", b"2a", b"3a"], strict=True)))
    assert await store.unembedded("old/256", 9) == ()
    assert await store.unembedded("new/384", 9) == tuple(chunks)
    await store.keep_vectors("new/384", {ids[0]: b"1b", "unknown": b"xx"})
    assert [await store.embedded(name) for name in ("old/256", "new/384", "none")] == [3, 1, 0]
    assert await store.vectors("new/384", ids) == {ids[0]: b"1b"}
    assert await store.vectors("old/256", ids) == dict(zip(ids, [b"1a", b"2a", b"3a"], strict=True))
    await store.keep_vectors("new/384", {ids[0]: b"1c"})
    assert await store.vectors("new/384", ids) == {ids[0]: b"1c"}
    await store.keep_vectors("third", {ids[0]: b"1d"})
    assert await store.vectors("old/256", ids) == {}, "the one used first is forgotten"
    assert await store.unembedded("old/256", 9) == tuple(chunks)
    assert await store.vectors("new/384", ids) == {ids[0]: b"1c"}


@pytest.mark.parametrize("vector", [b"", b"\x01\x00\xff\x7b\x00\x80", bytes(8_192)], ids=len)
async def test_a_vector_comes_back_as_it_was_and_is_not_made_again(store, vector, made):
    page, chunks = made(["Bees"])
    await store.keep(page, chunks, NOW)
    await store.keep_vectors("m", {chunks[0].id: vector})
    assert await store.vectors("m", [chunks[0].id]) == {chunks[0].id: vector}
    assert await store.unembedded("m", 9) == ()


# Bounds


async def test_what_is_older_than_its_age_goes_unless_it_was_cited_since(store_for, made, found):
    store = store_for(max_age=DAY)
    for url in (URL, OTHER):
        await store.keep(*made(["Bees"], url), NOW)
    await store.pin([OTHER], NOW + 0.5 * DAY)
    new = "https://new.example/"
    await store.keep(*made(["Wax"], new, fetched_at=NOW + DAY), NOW + DAY)
    assert await kept(store) == [OTHER, new]
    assert await found(store, "bees") == ["Bees"]
    await store.keep(*made(["Wax"], new, fetched_at=NOW + 1.5 * DAY), NOW + 1.5 * DAY)
    assert await kept(store) == [new]


async def test_a_page_from_the_future_counts_as_of_now(store_for, made):
    store = store_for(max_age=DAY)
    await store.keep(*made(["Bees"], fetched_at=NOW + 99 * DAY, fresh_until=NOW + 100 * DAY), NOW)
    await store.pin([URL], NOW + 99 * DAY)
    await store.keep(*made(["Wax"], OTHER), NOW)
    head = await store.head(URL)
    assert (head.fetched_at, head.fresh_until) == (NOW, NOW)
    await store.keep(*made(["Wax"], OTHER, fetched_at=NOW + DAY), NOW + DAY)
    assert await kept(store) == [OTHER]


def long_page(made, noise, number: int):
    """A page of some 40 KB in a file."""
    texts = [noise(100 * number + part, 1_400) for part in range(10)]
    return made(texts, f"https://{number:03}.example/")


async def test_a_full_store_forgets_what_was_used_least_recently_and_cited_pages_last(
    store_for, noise, made
):
    bound = 600_000
    store = store_for(max_bytes=bound)
    for number in range(3):
        await store.keep(*long_page(made, noise, number), NOW)
    await store.pin(["https://000.example/"], NOW)
    for number in range(3, 60):
        await store.keep(*long_page(made, noise, number), NOW)
        assert (await store.totals()).bytes <= bound * 1.1
    urls = await kept(store)
    assert "https://000.example/" in urls
    assert "https://001.example/" not in urls
    assert "https://059.example/" in urls
    assert len(urls) >= 5
    heads = await store.heads()
    for head in heads:
        assert len(await store.chunks(head.url)) == head.chunks
    assert (await store.totals()).chunks == sum(head.chunks for head in heads)


async def test_what_was_read_again_long_after_stays_longer(store_for, noise, made):
    store = store_for(max_bytes=1_000_000)
    first = "https://000.example/"
    for number in range(60):
        await store.keep(*long_page(made, noise, number), NOW)
        if number % 20 == 0:
            await store.chunks(first)
    urls = await kept(store)
    assert first in urls
    assert "https://001.example/" not in urls


async def test_cited_pages_alone_keep_to_the_bound_too(store_for, noise, made):
    store = store_for(max_bytes=600_000)
    for number in range(40):
        page, chunks = long_page(made, noise, number)
        await store.keep(page, chunks, NOW)
        await store.pin([page.url], NOW + number)
    assert (await store.totals()).bytes <= 660_000
    urls = await kept(store)
    assert "https://039.example/" in urls
    assert "https://000.example/" not in urls, "the one cited first goes first"


async def test_a_page_larger_than_the_bound_is_not_kept_and_nothing_goes_for_it(
    store_for, noise, made
):
    store = store_for(max_bytes=300_000)
    await store.keep(*made(["Bees"], OTHER), NOW)
    await store.keep(*made(["Small"]), NOW)
    large = made([noise(part, 5_000) for part in range(100)])
    assert await store.keep(*large, NOW) == Kept(new=0, reused=0, removed=1)
    assert await kept(store) == [OTHER]


# Namespaces


async def test_nobody_finds_the_pages_of_another_namespace(path, made, found):
    mine, yours = (
        SqliteCorpusStore(path, namespace=name, max_bytes=1 << 26, max_age=DAY)
        for name in ("mine", "yours")
    )
    page, chunks = made(["Bees make wax."])
    await mine.keep(page, chunks, NOW)
    await mine.keep_vectors("m", {chunks[0].id: b"mine"})
    assert await yours.page(URL) is None
    assert await found(yours, "wax") == []
    assert await found(yours, "wax", urls=[URL]) == []
    assert await yours.frequencies(["wax"]) == (0, {"wax": 0})
    other, other_chunks = made(["Bees make wax.", "And honey."], etag="other")
    assert await yours.keep(other, other_chunks, NOW) == Kept(new=2, reused=0, removed=0)
    assert await yours.vectors("m", [chunks[0].id]) == {}
    assert await yours.frequencies(["wax", "honey"]) == (2, {"wax": 1, "honey": 1})
    assert await mine.frequencies(["wax", "honey"]) == (1, {"wax": 1, "honey": 0})
    assert await mine.unembedded("m", 9) == ()
    assert await yours.unembedded("m", 9) == tuple(other_chunks)
    assert await mine.page(URL) == page
    assert (await mine.totals()).documents == (await yours.totals()).documents == 1
    assert await mine.remove([URL]) == 1
    assert await mine.page(URL) is None
    assert await yours.page(URL) == other
    await mine.clear()
    assert [each async for each in yours.export()] == [other]
    await mine.aclose()
    await yours.aclose()


# Deleting, exporting, counting


async def test_removed_pages_are_gone_and_the_others_stay(store, made, found):
    for url in (URL, OTHER):
        await store.keep(*made([f"Bees of {url}"], url), NOW)
    assert await store.remove([URL, URL, "https://none.example/"]) == 1
    assert await kept(store) == [OTHER]
    assert await found(store, "bees") == [f"Bees of {OTHER}"]
    await store.clear()
    assert await kept(store) == []
    assert await found(store, "bees") == []
    assert await store.keep(*made(["Bees"]), NOW) == Kept(new=1, reused=0, removed=0)
    await store.purge()
    assert await kept(store) == []


async def test_an_export_gives_every_page_once_whatever_is_kept_meanwhile(store, made):
    pages = [made([f"Bees {n}"], f"https://{n}.example/")[0] for n in range(5)]
    for page in pages:
        await store.keep(page, [], NOW)
    given = []
    async for page in store.export():
        given.append(page)
        if len(given) == 2:
            await store.remove(["https://3.example/"])
            await store.keep(replace(pages[0], etag="again"), [], NOW)
    assert given == [*pages[:3], pages[4]]


async def test_totals_count_what_is_kept_of_all_pages_or_of_one(store, made):
    page, chunks = made(["Bees make wax.", "Wax melts."])
    await store.keep(page, chunks, NOW)
    await store.keep(*made(["More and more wax"], OTHER), NOW)
    every, one = await store.totals(), await store.totals(URL)
    assert (every.documents, every.chunks, every.tokens) == (2, 3, 3 + 2 + 4)
    assert (one.documents, one.chunks, one.tokens) == (1, 2, 5)
    assert every.bytes == one.bytes > 0
    assert (await store.totals("https://none.example/")).documents == 0


@pytest.mark.parametrize("text", ["\ud800", "a\0b", "\u202e", "x" * 100_000])
async def test_odd_texts_are_kept_as_they_are(store, text, made):
    page, chunks = made(["Bees"], title=text, etag=text, last_modified=text)
    await store.keep(page, chunks, NOW)
    assert await store.page(URL) == page
    await store.renew(URL, fetched_at=NOW, fresh_until=NOW, etag=f"{text}2", last_modified=text)
    assert (await store.head(URL)).etag == f"{text}2"
    assert await store.head(text) is None
    assert await store.match([text], urls=[text], limit=3) == ()


@pytest.mark.parametrize(
    ("most", "question", "expected"),
    [
        pytest.param(99, "wax honey hive", "wax,honey,hive,wax honey,honey hive", id="all are rare"),
        pytest.param(3, "wax honey", "wax,wax honey", id="one is common"),
        pytest.param(3, "wax honey hive", "hive,honey hive,wax honey", id="two are"),
        pytest.param(1, "honey hive", "hive,honey hive", id="all are common"),
        pytest.param(3, "zebra", "", id="none is there"),
    ],
)  # fmt: skip
async def test_words_that_very_many_chunks_have_find_only_what_has_all_of_them(
    store, made, found, monkeypatch, most, question, expected
):
    monkeypatch.setattr(rows, "_MOST_ROWS", most)
    await store.keep(*made(["wax", "honey", "hive", "wax honey", "honey hive"], title="x"), NOW)
    assert set(await found(store, question)) == set(filter(None, expected.split(",")))

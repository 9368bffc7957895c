"""Chunks that fit a question, from one page or all, with vectors and a reranker and without."""

import asyncio
from collections.abc import Sequence
from types import MappingProxyType

import pytest
from aiohttp import web

from searx_mcp.content.chunks import chunk_id, pieces
from searx_mcp.content.document import Document
from searx_mcp.content.outline import headings
from searx_mcp.content.words import terms
from searx_mcp.evidence.corpus import retrieval
from searx_mcp.evidence.corpus.language_models import BATCH, pack
from searx_mcp.evidence.corpus.retrieval import LEXICAL_ONLY, NO_WORDS, NOT_RERANKED, Retriever
from searx_mcp.evidence.requests import IngestRequest, ReadRequest
from searx_mcp.evidence.storage.sqlite import SqliteCorpusStore
from searx_mcp.evidence.storage.store import StoredChunk, StoredPage
from searx_mcp.testing.loopback import never
from searx_mcp.testing.web import FakePage

PAST = 3_601.0


async def asked(corpus, url, question="wax", limit=8, **known):
    await corpus.ingest(url)
    return await corpus.retrieve(question, urls=[url], limit=limit, **known)


def soon(seconds):
    return asyncio.get_running_loop().time() + seconds


async def test_the_words_of_a_question_find_a_chunk(corpus, hives_url):
    found = await asked(corpus, hives_url)
    assert ["wax" in hit.chunk.text for hit in found.hits] == [True]
    assert (found.notes, found.evaluated) == ((), 2)
    assert 0 < found.hits[0].score <= 1
    assert not found.hits[0].low_confidence


async def test_where_no_word_of_the_question_stands_the_longest_parts_are_shown(
    corpus, site, sections_of
):
    site.put("/a", sections_of("Bees.", "Drones are male and do nothing at all.", "Hives."))
    found = await asked(corpus, site.url("/a"), "zebra crossing", limit=2)
    lengths = [len(hit.chunk.text) for hit in found.hits]
    assert found.notes == (NO_WORDS,)
    assert len(lengths) == 2
    assert lengths == sorted(lengths, reverse=True)
    assert all(hit.low_confidence for hit in found.hits)


async def test_the_longest_parts_of_a_very_long_page_are_shown_too(
    corpus, site, sections_of, monkeypatch
):
    monkeypatch.setattr(retrieval, "_WHOLE_PAGES", 5)
    site.put("/a", sections_of(*map(str, range(8))))
    found = await asked(corpus, site.url("/a"), "zebra")
    assert len(found.hits) == 5
    assert found.notes == (NO_WORDS,)
    assert "Part 6" in (await asked(corpus, site.url("/a"), "Part 6")).hits[0].chunk.text


async def test_no_page_and_an_unknown_page_have_nothing(corpus):
    for urls in ([], ["https://a.example/"], None):
        found = await corpus.retrieve("wax", urls=urls, limit=8)
        assert (found.hits, found.notes) == ((), ())


async def test_vectors_find_what_no_word_finds(site, sections_of, embedding_corpus):
    site.put("/a", sections_of("Waxes melt.", "Honeyed words.", "Drones do nothing."))
    found = await asked(embedding_corpus, site.url("/a"), "WAX")
    assert "Waxes" in found.hits[0].chunk.text
    assert found.notes == ()


async def test_vectors_of_chunks_are_made_once(
    site, embedding, sections_of, clock, embedding_corpus
):
    site.put("/a", sections_of("Bees make wax.", "Bees make honey.", "Mites kill."))
    await asked(embedding_corpus, site.url("/a"))
    assert len(embedding.texts) == 1 + 3
    embedding.batches.clear()
    await asked(embedding_corpus, site.url("/a"))
    assert embedding.texts == ["wax"]
    site.put("/a", sections_of("Bees make wax.", "Wasps make paper.", "Mites kill."))
    clock.advance(PAST)
    embedding.batches.clear()
    await asked(embedding_corpus, site.url("/a"))
    assert len(embedding.texts) == 2
    assert "Wasps" in embedding.texts[1]
    clock.advance(PAST)
    embedding.batches.clear()
    await asked(embedding_corpus, site.url("/a"))
    assert embedding.texts == ["wax"], "it was found unchanged"


async def failing(_number, _answer):
    return web.Response(status=429)


async def slow(_number, _answer):
    await never()


async def garbage(_number, _answer):
    return web.json_response({"data": []})


async def failing_after_the_question(number, answer):
    return web.json_response(answer) if number == 0 else web.Response(status=429)


@pytest.mark.parametrize("answers", [failing, slow, garbage, failing_after_the_question])
async def test_without_vectors_words_find_chunks_and_a_note_says_so(
    parts, embedding, answers, hives_url
):
    embedding.answers = answers
    lexical = await asked(parts.corpus(), hives_url)
    corpus = parts.corpus(embedder=parts.embedder(embedding, timeout=0.5))
    await corpus.ingest(hives_url)
    end = soon(10)
    found = await corpus.retrieve("wax", urls=[hives_url], limit=8, deadline=end)
    assert asyncio.get_running_loop().time() < end
    assert found.hits == lexical.hits
    assert found.notes == (LEXICAL_ONLY,)


async def test_by_the_deadline_there_is_what_words_find(parts, embedding, pass_by, hives_url):
    embedding.answers = slow
    corpus = parts.corpus(embedder=parts.embedder(embedding, timeout=60))
    await corpus.ingest(hives_url)
    end = soon(60)
    async with asyncio.TaskGroup() as group:
        urls = [hives_url]
        task = group.create_task(corpus.retrieve("wax", urls=urls, limit=8, deadline=end))
        await embedding.wait_for_requests(1)
        pass_by(59.8)
    assert asyncio.get_running_loop().time() < end
    assert len(task.result().hits) == 1


async def test_several_questions_have_one_note_on_one_failure(
    embedding, hives_url, embedding_corpus
):
    embedding.answers = failing
    answer = await embedding_corpus.read(
        ReadRequest(url=hives_url, queries=("wax", "drones", "bees"))
    )
    assert answer.note == LEXICAL_ONLY
    assert len(embedding.batches) == 1, "a server that failed is left alone"


async def test_vectors_of_another_model_are_never_compared_and_are_made_behind_questions(
    parts, site, embedding, sections_of
):
    site.put("/a", sections_of("Bees make wax.", "Bees make honey."))
    site.put("/b", sections_of(*(f"Bee {number} swarms." for number in range(BATCH + 4))))
    store = parts.store(None)
    old, new = (parts.embedder(embedding, model=name) for name in ("old", "new"))
    corpus = parts.corpus(store=store, embedder=old)
    await corpus.ingest_all(IngestRequest(url=(site.url("/a"), site.url("/b"))))
    for path in ("/a", "/b"):
        await asked(corpus, site.url(path))
    assert await store.embedded(old.model) == 2 + BATCH + 4
    corpus = parts.corpus(store=store, embedder=new, in_background=True)
    embedding.batches.clear()
    found = await asked(corpus, site.url("/a"))
    assert "wax" in found.hits[0].chunk.text
    assert len(embedding.batches[1]) == 2, "the page has vectors of the new model before an answer"
    async with asyncio.timeout(20):
        await asyncio.wait([each for each in asyncio.all_tasks() if "_make_vectors" in str(each)])
    assert await store.embedded(new.model) == 2 + BATCH + 4
    assert all(len(batch) <= BATCH for batch in embedding.batches)
    assert await store.embedded(old.model) == 2 + BATCH + 4, "whoever goes back has them still"
    assert len(embedding.texts) == 1 + 2 + BATCH + 4, "none is made twice"


async def test_vectors_are_made_behind_an_ingested_page(
    site, embedding, sections_of, background_corpus
):
    site.put("/a", sections_of("Bees make wax.", "Bees make honey."))
    await background_corpus.ingest_all(IngestRequest(url=(site.url("/a"),)))
    async with asyncio.timeout(20):
        await embedding.wait_for_requests(1)
    assert len(embedding.texts) == 2


async def test_what_makes_vectors_ends_with_the_corpus(
    site, embedding, sections_of, background_corpus
):
    site.put("/a", sections_of("Bees make wax."))
    embedding.answers = slow
    await background_corpus.ingest_all(IngestRequest(url=(site.url("/a"),)))
    async with asyncio.timeout(20):
        await embedding.wait_for_requests(1)
    assert "_make_vectors" in str(asyncio.all_tasks())
    await background_corpus.aclose()
    await background_corpus.aclose()
    assert "_make_vectors" not in str(asyncio.all_tasks())


async def test_a_server_that_fails_behind_a_question_ends_nothing(
    site, embedding, sections_of, background_corpus
):
    site.put("/a", sections_of("Bees make wax."))
    embedding.answers = garbage
    await background_corpus.ingest_all(IngestRequest(url=(site.url("/a"),)))
    async with asyncio.timeout(20):
        await embedding.wait_for_requests(1)
    found = await asked(background_corpus, site.url("/a"))
    assert found.hits


@pytest.mark.parametrize(("threshold", "is_low"), [(0.9, True), (0.05, False), (-1.0, True)])
async def test_a_chunk_with_few_words_is_marked_by_the_threshold_of_the_model(
    parts, site, embedding, sections_of, threshold, is_low
):
    site.put("/a", sections_of("Waxes and honeys melt.", "Drones do nothing."))
    corpus = parts.corpus(embedder=parts.embedder(embedding, threshold=threshold))
    found = await asked(corpus, site.url("/a"), "wax zebra giraffe lion elephant")
    assert "Waxes" in found.hits[0].chunk.text
    assert found.hits[0].low_confidence is is_low


async def test_a_reranker_orders_the_chunks_and_says_how_sure_it_is(
    parts, site, rerank, sections_of
):
    async def backwards(asked):
        scores = [{"index": n, "score": n / 10} for n in range(len(asked["texts"]))]
        return web.json_response(scores)

    rerank.answers = backwards
    site.put("/a", sections_of("Wax wax wax.", "Bees make wax.", "Much honey, and wax."))
    usual = await asked(parts.corpus(), site.url("/a"))
    found = await asked(parts.corpus(reranker=parts.reranker(rerank)), site.url("/a"))
    assert [hit.chunk for hit in found.hits] == [hit.chunk for hit in usual.hits][::-1]
    assert [hit.confidence for hit in found.hits] == [0.2, 0.1, 0.0]
    assert found.notes == ()


async def test_a_reranker_that_fails_leaves_the_order_and_a_note(parts, site, rerank, sections_of):
    async def fail(_asked):
        return web.Response(status=500)

    rerank.answers = fail
    site.put("/a", sections_of("Wax wax wax.", "Bees make wax."))
    usual = await asked(parts.corpus(), site.url("/a"))
    found = await asked(parts.corpus(reranker=parts.reranker(rerank)), site.url("/a"))
    assert found.hits == usual.hits
    assert found.notes == (NOT_RERANKED,)


async def test_equal_texts_of_several_pages_are_shown_once(corpus, site, sections_of):
    for path in ("/a", "/b", "/c"):
        site.put(path, sections_of("Bees make wax."))
        await corpus.ingest(site.url(path))
    found = await corpus.retrieve("wax", urls=None, limit=8)
    (hit,) = found.hits
    assert {hit.url, *hit.copies} == {site.url(path) for path in ("/a", "/b", "/c")}
    assert len(hit.copies) == 2


async def test_texts_with_almost_one_vector_are_shown_once(site, page_of, embedding_corpus):
    site.put("/a", page_of("Wax wax honey."))
    site.put("/b", page_of("Wax and wax and honey!"))
    site.put("/c", page_of("Wax, smoke and winter."))
    for path in ("/a", "/b", "/c"):
        await embedding_corpus.ingest(site.url(path))
    found = await embedding_corpus.retrieve("wax", urls=None, limit=8)
    assert [len(hit.copies) for hit in found.hits if "honey" in hit.chunk.text] == [1]
    assert len(found.hits) == 2


async def test_a_page_without_text_has_nothing_to_find(corpus, site):
    site.put("/a", FakePage("", content_type="text/plain"))
    found = await asked(corpus, site.url("/a"))
    assert found.hits == ()


async def test_a_page_that_does_not_answer_gives_one_passage_and_says_what_is_missing(
    corpus, site, sections_of
):
    site.put("/a", sections_of("Bees make wax.", "Wax is sold in May.", "Drones do nothing."))
    asked_for = ("when is wax sold", "what did wax cost in 2031")
    request = ReadRequest(url=site.url("/a"), queries=asked_for)
    sold, cost = (await corpus.read(request)).queries
    assert sold.answered
    assert sold.support > cost.support
    assert not cost.answered
    assert len(cost.results) == 1
    assert "2031" in cost.missing_terms


async def test_a_name_must_stand_in_the_page_that_answers(corpus, site, sections_of):
    site.put("/a", sections_of("The barrel of Ada weighs nine pounds."))
    site.put("/b", sections_of("The barn of Bert is red. The barn of Bert is old."))
    for path in ("/a", "/b"):
        await corpus.ingest(site.url(path))
    for question, is_answered in (
        ("How many pounds does the barrel of Ada weigh?", True),
        ("How many pounds does the barrel of Bert weigh?", False),
    ):
        found = await corpus.retrieve(question, urls=None, limit=5)
        assert found.support.answered is is_answered


# Pages whose title says which they are, and not where in them the answer stands

NOW = 1_800_000_000.0
PUMP_URL = "https://pump.example/"
PUMP = """# AirCore 6 manual

The AirCore 6 is a heat pump. This AirCore 6 manual is for owners of an AirCore 6.

## Hot water

{}

## Noise

Between ten and six the pump runs at half of its power, so that neighbours can sleep.
""".format("The tank holds 180 litres and is charged twice a day. " * 25)
OVEN = PUMP.replace("AirCore 6", "Bakehouse 9").replace("half", "a third")


class CountingEmbedder:
    """Counts words into a vector, some for each other."""

    model = "counting"
    floor: float | None = 0.3
    _WORDS = ("aircor", "6", "manual", "pump", "tank", "litre", "loud", "sleep", "power", "charge")
    _SAME = MappingProxyType({"night": "sleep", "bakeho": "aircor", "9": "6"})

    async def embed(self, texts: Sequence[str], *, deadline: float | None = None) -> list[bytes]:
        found = [[self._SAME.get(term, term) for term in terms(text)] for text in texts]
        return [pack([float(each.count(word)) for word in self._WORDS]) for each in found]


def stored(url: str, markdown: str) -> tuple[StoredPage, list[StoredChunk]]:
    document = Document(
        title=markdown.partition("\n")[0].lstrip("# "),
        markdown=markdown,
        outline=headings(markdown),
        word_count=1,
    )
    page = StoredPage(
        url=url,
        final_url=url,
        title=document.title,
        etag="",
        last_modified="",
        content_hash="",
        language="en",
        extractor="1",
        tier="native",
        fetched_at=NOW,
        fresh_until=NOW,
        document=document,
    )
    cut = pieces(markdown, document.outline, title=document.title, most=400)
    texts = [(each, markdown[each.start : each.end]) for each in cut]
    return page, [
        StoredChunk(chunk_id(url, each.path, text), text, each.path, each.start, each.end, 1)
        for each, text in texts
    ]


@pytest.fixture
async def manuals():
    made = SqliteCorpusStore(None, namespace="", max_bytes=1 << 26, max_age=1e9)
    await made.keep(*stored(PUMP_URL, PUMP), NOW)
    await made.keep(*stored("https://oven.example/", OVEN), NOW)
    yield made
    await made.aclose()


class BlindEmbedder:
    """Gives all texts the same vector, as a model does in a script that it does not know."""

    model = "blind"
    floor: float | None = None

    async def embed(self, texts: Sequence[str], *, deadline: float | None = None) -> list[bytes]:
        return [pack([1.0, 0.0]) for _ in texts]


async def test_chunks_that_only_their_vectors_call_the_same_are_all_found(manuals):
    urls = [PUMP_URL]
    by_words = await Retriever(manuals).retrieve("pump tank", urls=urls, limit=20)
    found = await Retriever(manuals, BlindEmbedder()).retrieve("pump tank", urls=urls, limit=20)
    assert {hit.chunk.id for hit in found.hits} >= {hit.chunk.id for hit in by_words.hits}
    assert len(found.hits) > 1


async def test_chunks_with_the_same_words_and_vectors_are_one_with_its_copies(manuals):
    await manuals.keep(*stored("https://mirror.example/", f"{PUMP}\n\nMirrored."), NOW)
    found = await Retriever(manuals, BlindEmbedder()).retrieve(
        "neighbours sleep AirCore", urls=None, limit=20
    )
    (hit,) = (hit for hit in found.hits if "half of its power" in hit.chunk.text)
    assert {hit.url, *hit.copies} == {PUMP_URL, "https://mirror.example/"}


@pytest.mark.parametrize(
    ("question", "has_vectors", "url", "words"),
    [
        pytest.param(
            "neighbours of the AirCore 6", False, PUMP_URL, ["neighbours can sleep"],
            id="words of the title do not put its first lines before the answer",
        ),
        pytest.param(
            "power of the Bakehouse 9 while neighbours sleep", False, None, ["a third"], id="the title says which page"
        ),
        pytest.param("night", False, None, [], id="no known word"),
        pytest.param("night", True, None, ["neighbours can sleep"], id="no known word, and vectors"),
        pytest.param(
            # "owners" stands in the first lines alone; the vector knows "night" as "sleep".
            "owners lamenting tonight whenever night racket disturbs", True, PUMP_URL,
            ["neighbours can sleep", "for owners"], id="vectors where words hardly match",
        ),
    ],
)  # fmt: skip
async def test_the_part_that_answers_comes_first(manuals, question, has_vectors, url, words):
    retriever = Retriever(manuals, CountingEmbedder() if has_vectors else None)
    urls = None if url is None else [url]
    found = await retriever.retrieve(question, urls=urls, limit=max(1, len(words)))
    shown = [hit.chunk.text for hit in found.hits]
    assert [word in text for word, text in zip(words, shown, strict=True)] == [True] * len(words)

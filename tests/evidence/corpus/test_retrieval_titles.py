"""The name of a page finds the page, and does not tell where in it the answer stands."""

from collections.abc import Sequence
from types import MappingProxyType

import pytest

from searx_mcp.content.chunks import chunk_id, pieces
from searx_mcp.content.document import Document
from searx_mcp.content.outline import headings
from searx_mcp.content.words import terms
from searx_mcp.evidence.corpus.language_models import pack
from searx_mcp.evidence.corpus.retrieval import Retriever
from searx_mcp.evidence.storage.sqlite import SqliteCorpusStore
from searx_mcp.evidence.storage.store import StoredChunk, StoredPage

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
    """Counts words into a vector, some for each other; notes what it was asked."""

    model = "counting"
    floor: float | None = 0.3
    _WORDS = ("aircor", "6", "manual", "pump", "tank", "litre", "loud", "sleep", "power", "charge")
    _SAME = MappingProxyType({"night": "sleep", "bakeho": "aircor", "9": "6"})

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def embed(self, texts: Sequence[str], *, deadline: float | None = None) -> list[bytes]:
        self.asked += texts
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
async def store():
    made = SqliteCorpusStore(None, namespace="", max_bytes=1 << 26, max_age=1e9)
    await made.keep(*stored(PUMP_URL, PUMP), NOW)
    await made.keep(*stored("https://oven.example/", OVEN), NOW)
    yield made
    await made.aclose()


async def test_a_question_has_one_vector_whatever_pages_it_is_compared_with(store):
    embedder = CountingEmbedder()
    found = await Retriever(store, embedder).retrieve("AirCore 6 night power", urls=None, limit=1)
    assert embedder.asked[0] == "AirCore 6 night power"
    assert embedder.asked.count("AirCore 6 night power") == 1
    assert "neighbours can sleep" in found.hits[0].chunk.text


class BlindEmbedder:
    """Gives all texts the same vector, as a model does in a script that it does not know."""

    model = "blind"
    floor: float | None = None

    async def embed(self, texts: Sequence[str], *, deadline: float | None = None) -> list[bytes]:
        return [pack([1.0, 0.0]) for _ in texts]


async def test_chunks_that_only_their_vectors_call_the_same_are_all_found(store):
    urls = [PUMP_URL]
    by_words = await Retriever(store).retrieve("pump tank", urls=urls, limit=20)
    found = await Retriever(store, BlindEmbedder()).retrieve("pump tank", urls=urls, limit=20)
    assert {hit.chunk.id for hit in found.hits} >= {hit.chunk.id for hit in by_words.hits}
    assert len(found.hits) > 1


async def test_chunks_with_the_same_words_and_vectors_are_one_with_its_copies(store):
    await store.keep(*stored("https://mirror.example/", f"{PUMP}\n\nMirrored."), NOW)
    found = await Retriever(store, BlindEmbedder()).retrieve(
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
async def test_the_part_that_answers_comes_first(store, question, has_vectors, url, words):
    retriever = Retriever(store, CountingEmbedder() if has_vectors else None)
    urls = None if url is None else [url]
    found = await retriever.retrieve(question, urls=urls, limit=max(1, len(words)))
    shown = [hit.chunk.text for hit in found.hits]
    assert [word in text for word, text in zip(words, shown, strict=True)] == [True] * len(words)

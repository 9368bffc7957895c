"""Pages read by question, and what the corpus says of itself."""

import asyncio
import hashlib

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from searx_mcp.content.chunks import chunk_id
from searx_mcp.errors import ContentError, ErrorCode, FetchError, SearxMcpError
from searx_mcp.evidence.requests import IngestRequest, ReadRequest, StatusRequest
from searx_mcp.testing.web import FakePage, article, silent


async def test_each_question_has_its_own_results(corpus, site, sections_of):
    site.put("/a", sections_of("Bees make wax.", "Drones do nothing.", "Mites kill."))
    request = ReadRequest(
        url=site.url("/a"), query=("wax",), queries=("mites", "wax"), include_metadata=True
    )
    answer = await corpus.read(request)
    assert [each.query for each in answer.queries] == ["wax", "mites"]
    assert ["wax" in each.results[0].text for each in answer.queries] == [True, False]
    assert (answer.url, answer.title, answer.note) == (site.url("/a"), "Hives", "")
    assert answer.last_crawled == "2026-09-21T14:13:20+00:00"
    (page,) = await corpus.pages([site.url("/a")])
    markdown = page.document.markdown.encode()
    known = answer.metadata
    assert known.content_hash == hashlib.sha256(markdown).hexdigest()
    assert (known.final_url, known.etag, known.language) == (site.url("/a"), page.etag, "en")
    assert (known.tier, known.chunks) == ("native", 3)
    assert known.tokens == sum(chunk.tokens for chunk in await corpus.chunks(site.url("/a")))


async def test_a_page_that_does_not_come_is_an_error_in_time(corpus, site, pass_by):
    site.put("/a", silent())
    end = asyncio.get_running_loop().time() + 60
    in_time = pytest.RaisesExc(FetchError, check=lambda error: error.code is ErrorCode.TIMEOUT)
    with pytest.RaisesGroup(in_time):
        async with asyncio.TaskGroup() as group:
            request = ReadRequest(url=site.url("/a"), query=("wax",))
            group.create_task(corpus.read(request, deadline=end))
            await site.wait_for_requests(1)
            pass_by(58.5)
    assert asyncio.get_running_loop().time() < end


async def test_the_status_counts_what_is_kept(corpus, site, sections_of, hives_url):
    site.put("/b", sections_of("Mites kill."))
    urls = (hives_url, site.url("/b"), site.url("/none"))
    done = (await corpus.ingest_all(IngestRequest(url=urls))).pages
    assert [page.chunks for page in done] == [2, 1, 0]
    assert [page.error_type for page in done] == ["", "", "not_found"]
    assert [page.in_memory for page in done] == [True, True, False]
    status = await corpus.status(StatusRequest())
    assert (status.documents, status.chunks) == (2, 3)
    assert status.tokens == sum(page.tokens for page in done)
    assert [(page.url, page.chunks) for page in status.urls] == [(urls[0], 2), (urls[1], 1)]
    assert (await corpus.status(StatusRequest(include_urls=False))).urls == ()


@pytest.mark.parametrize(("asked", "documents"), [("/a", 1), ("/a#part", 1), ("/none", 0), ("", 0)])
async def test_the_status_of_one_page(corpus, site, asked, documents, hives_url):
    await corpus.ingest(hives_url)
    url = site.url(asked) if asked else "http://[::1"
    status = await corpus.status(StatusRequest(source_url=url))
    assert (status.source_url, status.documents, status.chunks) == (url, documents, 2 * documents)
    assert [page.url for page in status.urls] == [hives_url] * documents


async def test_the_status_counts_vectors(site, sections_of, embedding, embedding_corpus):
    for path, texts in (("/a", ["Bees make wax.", "Drones do nothing."]), ("/b", ["Mites kill."])):
        site.put(path, sections_of(*texts))
        await embedding_corpus.read(ReadRequest(url=site.url(path), query=("wax",)))
    asked = ("", site.url("/a"), site.url("/none"))
    found = [await embedding_corpus.status(StatusRequest(source_url=url)) for url in asked]
    assert [status.embedded for status in found] == [3, 2, 0]
    assert {status.embedding for status in found} == {"m v1"}


@pytest.mark.parametrize("place", ["file"], indirect=True)
async def test_a_removed_page_leaves_no_trace(corpus, site, place, wax_url):
    await corpus.ingest(wax_url)
    assert await corpus.remove([f"{site.url('/a')}#part"]) == 1
    assert await corpus.remove([wax_url]) == 0
    await corpus.aclose()
    assert wax_url.encode() not in b"".join(file.read_bytes() for file in place.parent.iterdir())


async def test_a_page_held_in_memory_can_be_removed_too(corpus, site, page_of):
    for path in ("/a", "/b"):
        site.put(path, page_of("Bees make wax.", headers={"Cache-Control": "no-store"}))
        await corpus.ingest(site.url(path))
    assert await corpus.remove([site.url("/a"), site.url("/a#part")]) == 1
    assert len(await corpus.pages([site.url("/a"), site.url("/b")])) == 1
    await corpus.clear()
    assert await corpus.pages([site.url("/b")]) == []


async def test_an_export_has_the_pages_with_their_chunks(corpus, hives_url):
    await corpus.ingest(hives_url)
    (page,) = [page async for page in corpus.export()]
    assert page.url == hives_url
    assert [chunk.id for chunk in page.chunks] == [
        chunk.id for chunk in await corpus.chunks(hives_url)
    ]


async def test_while_other_processes_keep_the_file_busy_an_error_names_no_file(
    parts, tmp_path, wax_url
):
    corpus = parts.corpus(store=parts.store(tmp_path / "corpus-v1.db", patience=0.0))
    done = await corpus.ingest(wax_url)
    assert "corpus is unavailable" in str(done.error)
    with pytest.raises(SearxMcpError) as caught:
        await corpus.retrieve("wax", urls=None, limit=3)
    assert str(tmp_path) not in str(caught.value)


WORDS = st.text(
    st.sampled_from("abc xyz äß 漢字 かな 🐝 . , | * _ ` # - 1 é\u0301 \u00a0"),
    min_size=1,
    max_size=60,
)
PARAGRAPHS = st.lists(WORDS, min_size=1, max_size=12)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40)
@given(paragraphs=PARAGRAPHS, repeats=st.integers(1, 120))
async def test_the_span_of_a_result_cuts_its_text_out_of_the_kept_page(
    parts, site, paragraphs, repeats
):
    corpus = parts.corpus()
    texts = [f"{text} " * repeats for text in paragraphs]
    page = article("Any", texts)
    path = f"/{hashlib.sha256(page.encode()).hexdigest()}"
    site.put(path, FakePage(page))
    try:
        answer = await corpus.read(
            ReadRequest(url=site.url(path), query=(paragraphs[0],), max_results=50)
        )
    except ContentError:  # there are no words
        return
    (kept,) = await corpus.pages([site.url(path)])
    markdown = kept.document.markdown.encode()
    for result in answer.queries[0].results:
        start, end = result.span
        assert markdown[start:end].decode() == result.text
        assert result.id == chunk_id(kept.url, result.section_path, result.text)
    chunks = await corpus.chunks(kept.url)
    covered = bytearray(markdown)
    for chunk in chunks:
        covered[chunk.start : chunk.end] = bytes(chunk.end - chunk.start)
    assert len({chunk.id for chunk in chunks}) == len(chunks)
    # Of equal chunks the first is kept, so that what is left stands in another one.
    whole = "\n".join(chunk.text for chunk in chunks)
    for rest in covered.decode("utf-8", "replace").replace("\0", " ").split():
        assert rest in whole


SECTIONS = st.lists(
    st.text("abcdefgh", min_size=3, max_size=8), min_size=2, max_size=6, unique=True
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=30)
@given(names=SECTIONS, data=st.data())
async def test_a_changed_paragraph_changes_only_its_chunks(
    parts, site, sections_of, clock, names, data
):
    corpus = parts.corpus()
    at = data.draw(st.integers(0, len(names) - 1))
    path = f"/{'-'.join(names)}/{at}"
    site.put(path, sections_of(*names))
    before = await corpus.ingest(site.url(path))
    changed = [*names[:at], f"{names[at]} otherwise", *names[at + 1 :]]
    site.put(path, sections_of(*changed))
    clock.advance(3_601)
    after = await corpus.ingest(site.url(path))
    ids = [[chunk.id for chunk in done.chunks] for done in (before, after)]
    assert [old == new for old, new in zip(*ids, strict=True)] == [
        place != at for place in range(len(names))
    ]
    assert after.new_chunks == 1
    assert await corpus.chunks(site.url(path)) == after.chunks

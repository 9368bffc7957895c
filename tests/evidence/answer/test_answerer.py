"""Answers over a site on loopback, from the question to the quote."""

import asyncio
import re

import pytest
from aiohttp import web

from searx_mcp.errors import DeadlineError
from searx_mcp.evidence.checked import QuoteVerdict
from searx_mcp.evidence.corpus.corpus import Corpus
from searx_mcp.evidence.render.evidence import evidence_text
from searx_mcp.evidence.values import PROTECTED, Mode
from searx_mcp.testing.loopback import LoopbackServer, ReceivedRequest
from searx_mcp.testing.results import FakeResult
from searx_mcp.testing.searxng import FakeSearxng
from searx_mcp.testing.web import FakePage, FakeWeb, silent

QUESTION = "How high is Tarn Dam, the oldest dam?"
FACT = "The wall of Tarn Dam was finished in 1931 and is 43 metres high."


def paths(web, urls):
    return [url.removeprefix(web.base) for url in urls]


def asked(web):
    return [request.path for request in web.requests]


async def test_a_fact_two_links_away_is_found_and_cited(valley, client):
    response = await client.answer(QUESTION, url=valley.url("/"))
    cited = next(each for each in response.citations if each.text == FACT)
    assert cited.url == valley.url("/tarn")
    source = next(each for each in response.sources if each.number == cited.source)
    assert (source.url, source.title) == (valley.url("/tarn"), "Tarn Dam")
    step = next(each for each in response.steps if each.url == valley.url("/tarn"))
    assert (step.parent, step.depth, step.chunks_added) == (valley.url("/dams"), 2, 1)
    assert step.score_after > step.score_before
    assert response.stats.urls_ingested == len(valley.requests) == len(response.steps)
    assert not response.is_partial


async def test_a_second_section_that_answers_raises_the_score_of_a_page(valley, page_of, client):
    other = "Visitors walk along the river in spring and rest below old trees. " * 9
    scores = []
    for count in (1, 2):
        sections = [f"<h2>Tarn Dam {n}</h2><p>{FACT} {other}</p>" for n in range(count)]
        valley.put(f"/{count}", page_of("Dams", *sections))
        response = await client.answer(
            "How high is Tarn Dam?", url=valley.url(f"/{count}"), expansion_budget=0
        )
        scores.append(response.steps[0].score_after)
    assert scores[1] > 1.5 * scores[0]


async def test_every_named_page_is_a_source(valley, client):
    urls = [valley.url("/inns"), valley.url("/birds"), valley.url("/inns")]
    response = await client.answer("Where do ospreys nest?", url=urls, expansion_budget=0)
    assert paths(valley, [each.url for each in response.sources]) == ["/birds", "/inns"]
    assert sorted(asked(valley)) == ["/birds", "/inns"]
    assert [each.number for each in response.sources] == [1, 2]


async def test_each_part_of_a_question_is_quoted_though_one_passage_answers_all(
    valley, page_of, client
):
    built = "The engineer Ida Brook built Tarn Dam for the mill of the valley."
    valley.put("/wall", page_of("Tarn Dam", built, "In spring, visitors walk there.", FACT))
    response = await client.answer(
        "Who built Tarn Dam? How high is Tarn Dam?", url=valley.url("/wall"), expansion_budget=0
    )
    assert response.answered
    assert len(response.evidence) == 1
    assert {each.text for each in response.citations} == {built, FACT}


async def test_rows_of_a_long_table_have_its_header(valley, page_of, client):
    rows = "".join(
        f"<tr><td>Weir {n}</td><td>{n + 3} metres</td><td>Of stone, by the river road {n}</td></tr>"
        for n in range(200)
    )
    head = "<tr><th>Weir</th><th>Height</th><th>Remarks</th></tr>"
    valley.put("/weirs", page_of("Weirs", f"<table>{head}{rows}</table>"))
    url, question = valley.url("/weirs"), "How high is Weir 188?"
    read = await client.read_page(url, query=question)
    response = await client.answer(question, url=url, expansion_budget=0, max_tokens=600)
    whole = await client.answer(question, url=url, expansion_budget=0)
    for each in (read.queries[0].results[0], response.evidence[0]):
        assert "Weir 188" in each.text
        assert each.table_head == "| Weir | Height | Remarks |\n| --- | --- | --- |\n"
    first = [each.table_head for each in whole.evidence if "| Weir | Height" in each.text]
    assert first == [""]


def talkative(page_of):
    """A page with many chunks that have all words of the question."""
    words = "the oldest dam Tarn Dam is so high that visitors ask how high the dam is."
    return page_of(
        "Visitors' book",
        *(
            f"<h2>Entry {n}</h2><p>{f'On day {n}, a guest of house {n * 7} wrote: {words} ' * 12}</p>"
            for n in range(60)
        ),
    )


async def test_every_named_page_is_heard_however_much_another_one_says(valley, page_of, client):
    valley.put("/book", talkative(page_of))
    valley.put("/wall", page_of("A wall", "It was built of granite and measures 43 metres."))
    urls = [valley.url("/book"), valley.url("/wall"), valley.url("/inns")]
    response = await client.answer(QUESTION, url=urls, max_tokens=8_000)
    assert len(response.evidence) == 24
    by_number = {source.number: source.url for source in response.sources}
    first = [by_number[each.source] for each in response.evidence[:3]]
    assert first[0] == valley.url("/book")
    assert sorted(first) == sorted(urls)
    scores = [each.score for each in response.evidence]
    assert scores[0] == max(scores)
    text = evidence_text(response, budget=8_000, boundary="0123456789abcdef")
    assert "43 metres" in text
    assert "The Grey Heron" in text


@pytest.mark.parametrize(
    ("other", "reason"),
    [
        ("/inns", "the question is answered, but not by every page that was named"),
        ("/tarn", "every part of the question is answered"),
    ],
)
async def test_the_question_counts_as_answered_by_those_pages_that_answer_it(
    valley, page_of, other, reason, client
):
    link = f'<p>See <a href="{valley.url("/birds")}">the birds</a>.</p>'
    valley.put("/book", page_of("Dams", f"{FACT} Tarn Dam is the oldest dam.", link))
    response = await client.answer(QUESTION, url=[valley.url("/book"), valley.url(other)])
    assert response.stats.stop_reason == reason


@pytest.mark.parametrize("budget", [0, 2])
async def test_no_more_linked_pages_are_read_than_the_budget_allows(valley, budget, client):
    response = await client.answer(QUESTION, url=valley.url("/"), expansion_budget=budget)
    assert len(valley.requests) == 1 + budget
    assert response.stats.iterations == budget
    assert response.stats.budget == budget
    assert response.stats.stop_reason == (
        "expansion budget exhausted" if budget else "no expansion was asked for"
    )


async def test_links_are_followed_no_deeper_than_the_settings_say(valley, client_of):
    client = await client_of(valley, answer={"max_expansion_depth": 1})
    response = await client.answer(QUESTION, url=valley.url("/"), expansion_budget=20)
    assert "/tarn" not in asked(valley)
    assert response.stats.depth == response.stats.max_depth == 1
    assert response.stats.stop_reason == "maximum depth reached"


async def test_a_dead_page_among_those_named_is_said(valley, client):
    urls = [valley.url("/nowhere"), valley.url("/tarn")]
    response = await client.answer(QUESTION, url=urls)
    assert [each.url for each in response.sources] == [valley.url("/tarn")]
    assert f"{valley.url('/nowhere')}: not_found" in response.notes


async def test_what_is_in_hand_when_time_runs_out_is_given_and_marked(valley, pass_by, client):
    valley.put("/slow", silent())
    await client.ingest(valley.url("/tarn"))
    urls = [valley.url("/tarn"), valley.url("/slow")]
    is_read = asyncio.Event()

    def told(message: str) -> None:
        if message.startswith("Indexed"):
            is_read.set()

    async with asyncio.TaskGroup() as group:
        answering = group.create_task(client.answer(QUESTION, url=urls, timeout=60, progress=told))
        await valley.wait_for_requests(2)
        await is_read.wait()  # no call of the database is under way, which the leap would end
        pass_by(55)
    response = answering.result()
    assert response.is_partial
    assert "Time ran out" in response.notes[0]
    assert FACT in [each.text for each in response.citations]
    assert response.stats.stop_reason == "time ran out"


async def test_a_silent_link_does_not_hold_an_answer(valley, pass_by, client):
    is_asked = asyncio.Event()

    def never_answered(_: ReceivedRequest) -> FakePage:
        is_asked.set()
        return silent()

    valley.put("/birds", never_answered)
    read: set[str] = set()
    is_read = asyncio.Event()

    def told(message: str) -> None:
        if message.startswith("Indexed"):
            read.add(message.split()[1])
        if read == {valley.url(path) for path in ("/", "/dams", "/inns")}:
            is_read.set()

    async with asyncio.TaskGroup() as group:
        answering = group.create_task(
            client.answer(QUESTION, url=valley.url("/"), timeout=60, progress=told)
        )
        await is_asked.wait()
        await is_read.wait()
        pass_by(3)
    response = answering.result()
    assert not response.is_partial
    assert FACT in [each.text for each in response.citations]
    failed = {each.url: each.failure for each in response.steps if each.failure}
    assert failed == {valley.url("/birds"): "timeout"}
    assert not any("/birds" in note for note in response.notes)


async def test_if_nothing_is_in_hand_when_time_runs_out_that_is_an_error(valley, client):
    valley.put("/slow", silent())
    with pytest.raises(DeadlineError):
        await client.answer(QUESTION, url=valley.url("/slow"), timeout=1)


async def test_a_protected_page_is_noted_and_no_error(valley, client):
    valley.put("/members", FakePage("members only", status=401))
    url = valley.url("/members")
    alone = await client.answer(QUESTION, url=url)
    assert (alone.sources, alone.evidence) == ((), ())
    assert f"{url}: {PROTECTED}" in alone.notes
    both = await client.answer(QUESTION, url=[url, valley.url("/tarn")])
    assert f"{url}: {PROTECTED}" in both.notes
    assert FACT in [each.text for each in both.citations]


async def test_without_an_address_the_web_is_searched_first(valley, client_of):
    rows = [
        FakeResult(url=valley.url("/tarn"), title="Tarn Dam", description="A dam of the valley."),
        FakeResult(url=valley.url("/nowhere"), title="Gone", description="Tarn Dam is 43 m high."),
    ]
    async with FakeSearxng(results=rows, formats=("html", "json")) as instance:
        client = await client_of(valley, instance)
        response = await client.answer(QUESTION)
    assert FACT in [each.text for each in response.citations]
    read, unread = response.sources
    assert (read.url, read.is_read) == (valley.url("/tarn"), True)
    assert (unread.url, unread.is_read, unread.content_hash) == (valley.url("/nowhere"), False, "")
    shown = next(each for each in response.evidence if each.source == unread.number)
    assert (shown.text, shown.id, shown.score) == ("Tarn Dam is 43 m high.", "", 0.0)
    assert not any(each.source == unread.number for each in response.citations)


async def test_a_search_that_finds_nothing_is_an_answer_with_a_note(valley, client_of):
    async with FakeSearxng(results=[], formats=("html", "json")) as instance:
        client = await client_of(valley, instance)
        response = await client.answer(QUESTION)
    assert (response.sources, response.evidence) == ((), ())
    note = "The web search found nothing: try fewer or more general words."
    assert note in response.notes


@pytest.mark.parametrize("budget", [0, 6])
async def test_a_question_that_no_page_answers_has_one_passage_and_no_quote(valley, budget, client):
    question = "Who painted the ceiling of Tarn Cathedral in 2031?"
    response = await client.answer(question, url=valley.url("/tarn"), expansion_budget=budget)
    assert not response.answered
    assert response.is_refused
    (part,) = response.parts
    assert part.query == question
    assert {"Cathedral", "2031"} <= set(part.missing_terms)
    assert len(response.evidence) <= 1
    assert response.citations == ()
    assert not response.stats.stop_reason.startswith("every part")


async def test_of_two_questions_the_one_that_is_answered_has_evidence(valley, client):
    question = "When was Tarn Dam finished? Who painted the ceiling of Tarn Cathedral in 2031?"
    response = await client.answer(question, url=valley.url("/tarn"), expansion_budget=0)
    assert [part.answered for part in response.parts] == [True, False]
    assert (response.answered, response.is_refused) == (False, False)
    assert FACT in [each.text for each in response.citations]


async def test_a_page_that_has_not_changed_was_not_ingested(valley, client_of):
    client = await client_of(valley, corpus={"fresh_for": 0})
    first = await client.answer(QUESTION, url=valley.url("/tarn"), expansion_budget=0)
    again = await client.answer(QUESTION, url=valley.url("/tarn"), expansion_budget=0)
    assert [first.stats.urls_ingested, again.stats.urls_ingested] == [1, 0]


async def test_an_empty_corpus_gives_an_answer_without_evidence(client_of):
    client = await client_of()
    response = await client.search_corpus("Where do ospreys nest?")
    assert (response.sources, response.evidence, response.citations) == ((), (), ())
    assert response.stats.documents_searched == 0
    assert response.answered is False


async def test_a_search_of_the_corpus_says_which_pages_it_does_not_have(valley, client):
    await client.ingest(valley.url("/tarn"))
    urls = [valley.url("/tarn"), valley.url("/birds")]
    told: list[str] = []
    response = await client.search_corpus(
        "Where do ospreys nest?", source_urls=urls, progress=told.append
    )
    assert f"{valley.url('/birds')}: not indexed: read it first." in response.notes
    assert (response.stats.documents_searched, asked(valley)) == (1, ["/tarn"])
    assert "Searching 1 documents..." in told


async def test_a_search_of_the_corpus_leaves_out_what_another_process_deletes_meanwhile(
    valley, monkeypatch, client
):
    await client.ingest([valley.url("/tarn"), valley.url("/birds")])
    pages = Corpus.pages

    async def pages_left(self, urls):
        return [page for page in await pages(self, urls) if page.url != valley.url("/tarn")]

    monkeypatch.setattr(Corpus, "pages", pages_left)
    response = await client.search_corpus("When was Tarn Dam finished?")
    assert valley.url("/tarn") not in {source.url for source in response.sources}


async def test_a_search_of_the_corpus_gives_no_more_than_it_is_asked_for(client_of, page_of):
    sections = "".join(
        f"<h2>Dam {n}</h2><p>{f'Dam {n} of the valley. ' * 60}</p>" for n in range(14)
    )
    async with FakeWeb({"/": page_of("Dams", sections)}) as site:
        client = await client_of(site)
        await client.ingest(site.url("/"))
        few, many = [
            await client.search_corpus("dam of the valley", top_k=top_k) for top_k in (3, 14)
        ]
    assert [len(few.evidence), len(few.citations)] == [3, 3]
    assert [len(many.evidence), len(many.citations)] == [14, 12]
    assert [bool(each.parts) for each in many.evidence] == [True] * 12 + [False] * 2


async def test_each_phase_is_told_with_its_counts_and_without_the_question(valley, client):
    told: list[str] = []
    response = await client.answer(QUESTION, url=valley.url("/"), progress=told.append)
    site = re.escape(valley.base)
    for pattern in (
        "Analyzing query — decomposed into 1 sub-queries",
        rf"Checking if {site}/ is indexed\.\.\.",
        rf"Scraping {site}/\.\.\.",
        rf"Indexed {site}/ \(1 chunks, [0-9]+ tokens\)",
        r"Searching 1 documents\.\.\.",
        r"Expanding to linked pages \(iteration 3/6\)\.\.\.",
        r"Searching 4 documents\.\.\.",
        r"Assembling results \([0-9]+ chunks, [0-9]+ tokens\)\.\.\.",
    ):
        assert any(re.fullmatch(pattern, message) for message in told), pattern
    assert not any("high" in message for message in told)
    spent = response.stats.timing
    assert min(spent.ingestion, spent.retrieval, spent.expansion, spent.merge) > 0
    assert sum(spent.model_dump(exclude={"total"}).values()) == pytest.approx(spent.total, abs=1)


async def test_a_reranker_is_told_of_and_its_time_is_counted(valley, client_of):
    async def scored(request: web.BaseRequest, _: ReceivedRequest) -> web.StreamResponse:
        texts = (await request.json())["texts"]
        return web.json_response([{"index": at, "score": 0.5} for at in range(len(texts))])

    told: list[str] = []
    async with LoopbackServer(scored) as server:
        client = await client_of(valley, rerank={"url": f"{server.base}/rerank"})
        response = await client.answer(QUESTION, url=valley.url("/"), progress=told.append)
        kept = await client.search_corpus(QUESTION)
    assert any(re.fullmatch(r"Reranking [0-9]+ chunks\.\.\.", message) for message in told)
    assert 0.5 in {each.confidence for each in response.evidence}
    assert response.stats.timing.reranking > 0
    assert kept.stats.timing.reranking > 0


async def test_a_note_on_what_was_found_first_does_not_outlive_what_is_found_next(valley, client):
    first = await client.answer("ospreys", url=valley.url("/dams"), expansion_budget=0)
    then = await client.answer(
        "ospreys", url=[valley.url("/dams"), valley.url("/birds")], expansion_budget=0
    )
    note = "No word of the question was found; the longest passages are shown."
    assert note in first.notes
    assert [each.low_confidence for each in first.evidence] == [True]
    assert note not in then.notes
    then = await client.answer("ospreys", url=valley.url("/"), expansion_budget=4)
    assert any("Ospreys" in each.text for each in then.evidence)
    assert note not in then.notes


async def test_a_report_is_checked_against_kept_pages(valley, client):
    valley.put("/old", FakePage(status=302, headers={"Location": "/tarn"}))
    await client.ingest([valley.url("/old"), valley.url("/birds")])
    count = len(valley.requests)
    report = "\n\n".join(
        (
            f'"The wall of Tarn Dam was finished in 1931" ([dam]({valley.url("/tarn")})).',
            f'"Ospreys have nested on the northern shore" ([dam]({valley.url("/tarn")})).',
            f'"Herons have nested on the southern shore" ([birds]({valley.url("/birds")})).',
            f"See also {valley.url('/inns')}.",
            f"The wall of Tarn Dam was finished in 1932 ([dam]({valley.url('/tarn')})).",
        )
    )
    checked = await client.verify(report)
    assert [quote.verdict for quote in checked.quotes] == [
        QuoteVerdict.SUPPORTED,
        QuoteVerdict.MISATTRIBUTED,
        QuoteVerdict.ALTERED,
    ]
    assert [(each.line, each.verdict) for each in checked.sentences] == [
        (7, QuoteVerdict.NOT_CHECKED),
        (9, QuoteVerdict.ALTERED),
    ]
    assert checked.quotes[1].found_in == (valley.url("/birds"),)
    assert {link.url.removeprefix(valley.base): link.verdict for link in checked.links} == {
        "/tarn": QuoteVerdict.SUPPORTED,
        "/birds": QuoteVerdict.SUPPORTED,
        "/inns": QuoteVerdict.MISSING,
    }
    assert len(valley.requests) == count


async def test_what_answers_is_quoted_first_of_a_page_that_is_given_whole(client_of, page_of):
    others = (
        f"<h2>Part {n}</h2><p>A dam of kind {n} is {' '.join(f'w{n}x{m}' for m in range(150))}.</p>"
        for n in range(4)
    )
    fact = "<h2>Tarn</h2><p>Tarn Dam, the oldest dam, is 43 metres high.</p>"
    async with FakeWeb({"/": page_of("Dams", *others, fact)}) as site:
        client = await client_of(site)
        response = await client.answer(QUESTION, url=site.url("/"))
    assert response.stats.mode is Mode.FULL_CONTEXT
    assert all(f"w{n}x149" in "".join(e.text for e in response.evidence) for n in range(4))
    assert response.citations[0].text == "Tarn Dam, the oldest dam, is 43 metres high."

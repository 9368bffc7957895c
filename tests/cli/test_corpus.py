"""Asking pages, and looking after those that are kept, on the command line."""

import html
import json

import pytest

from searx_mcp.evidence.checked import CheckedQuote, QuoteVerdict, VerifyReport
from searx_mcp.evidence.requests import Intent
from searx_mcp.evidence.values import (
    Chunk,
    Citation,
    CorpusPage,
    CorpusStatus,
    Evidence,
    EvidenceResponse,
    EvidenceStats,
    IngestedPage,
    IngestResponse,
    QuestionChunks,
    ReadMetadata,
    ReadResponse,
    Source,
    Timing,
)
from searx_mcp.files import make_private_file
from searx_mcp.testing.web import FakePage, FakeWeb, article

TEA = article(
    "Tea",
    [
        "Black tea wants water that boils, at one hundred degrees.",
        "Green tea turns bitter above eighty degrees, so let the kettle stand for two minutes.",
    ],
)


@pytest.fixture
async def web():
    async with FakeWeb({"/tea": FakePage(TEA)}) as site:
        yield site


@pytest.fixture
def run(run_cli, web, tmp_path):
    async def run(*arguments, **environment):
        return await run_cli(
            *arguments,
            **{
                "SEARX_MCP_STORAGE__FOLDER": str(tmp_path / "state"),
                "SEARX_MCP_FETCH__ALLOW_PRIVATE": web.origin,
                "SEARX_MCP_EMBEDDING__PROVIDER": "none",
                **environment,
            },
        )

    return run


async def test_a_page_answers_questions_and_the_second_costs_no_request(run, web):
    first = await run("read", web.url("/tea"), "-q", "When is green tea bitter?")
    asked = len(web.requests)
    second = await run("read", web.url("/tea"), "-q", "boiling", "-q", "bitter", "--json")
    assert first.code == second.code == 0, first.err + second.err
    assert "Green tea turns bitter above eighty degrees" in first.out
    assert f"Tea  {web.url('/tea')}" in first.err
    data = json.loads(second.out)
    assert [each["query"] for each in data["queries"]] == ["boiling", "bitter"]
    assert data["lastCrawled"]
    assert len(web.requests) == asked


@pytest.mark.parametrize(
    ("typed", "asked"),
    [
        (("read", "{page}", "When is tea bitter?"), ["When is tea bitter?"]),
        (("read", "when", "is", "tea", "bitter", "{page}"), ["when is tea bitter"]),
        (
            ("read", "When is tea bitter?", "{page}", "-q", "boiling"),
            ["When is tea bitter?", "boiling"],
        ),
        (("answer", "when", "is", "tea", "{page}", "bitter"), "when is tea bitter"),
        (("answer", "bitter tea", "{page}", "--url", "{web}/other"), "bitter tea"),
    ],
)
async def test_questions_are_typed_in_words_beside_addresses(run, web, typed, asked):
    ran = await run(
        *(each.format(page=web.url("/tea"), web=web.url("")) for each in typed), "--json"
    )
    assert ran.code == 0, ran.err
    data = json.loads(ran.out)
    questions = [each["query"] for each in data["queries"]] if "queries" in data else data["query"]
    assert questions == asked
    assert any(each.path == "/tea" for each in web.requests)


async def test_a_question_that_is_missing_is_named_as_it_would_be_typed(run, web):
    for typed in (("read", web.url("/tea")), ("answer", web.url("/tea"))):
        ran = await run(*typed)
        assert ran.code == 2
        assert ran.err.startswith("searx-mcp: QUERY: is missing; say what you want to know")


async def test_evidence_names_its_source_and_quotes_it(run, web):
    ran = await run("answer", "When does green tea turn bitter?", "--url", web.url("/tea"))
    assert ran.code == 0, ran.err
    assert ran.out.startswith(f"\n[1] Tea\n    {web.url('/tea')}\n")
    assert "Green tea turns bitter above eighty degrees" in ran.out
    whole = await run("corpus", "search", "green tea", "--passages")
    assert "Black tea wants water" in whole.out
    data = json.loads((await run("corpus", "search", "green tea", "--json")).out)
    assert data["sources"][0]["url"] == web.url("/tea")
    assert len(data["citations"]) == 1


async def test_pages_are_added_listed_and_removed(run, web):
    added = await run("corpus", "add", web.url("/tea"))
    assert (added.code, added.out) == (0, f"{web.url('/tea')}: 1 chunk, 1 new\n")
    again = await run("corpus", "add", web.url("/tea"), "--json")
    (page,) = json.loads(again.out)["pages"]
    assert (page["chunks"], page["is_changed"]) == (1, False)
    listed = await run("corpus", "status")
    assert web.url("/tea") in listed.out
    assert "\n1 page, 1 chunk, " in listed.out
    removed = await run("corpus", "remove", web.url("/tea"), web.url("/other"))
    assert (removed.code, removed.out) == (1, f"Removed {web.url('/tea')}\n")
    assert f"{web.url('/other')} is not kept" in removed.err
    told = json.loads((await run("corpus", "remove", web.url("/tea"), "--json")).out)
    assert told == {"removed": [], "unknown": [web.url("/tea")]}
    one = await run("corpus", "status", web.url("/tea"))
    assert (one.code, "is not kept" in one.out) == (0, True)


async def test_an_empty_corpus_says_how_it_is_filled(run):
    status = await run("corpus", "status")
    assert status.code == 0
    assert status.out == "The corpus is empty; `searx-mcp corpus add URL` keeps a page.\n"
    search = await run("corpus", "search", "tea")
    assert search.code == 0
    assert (search.out + search.err).count("Note: ") == 1
    assert "Note: No page is kept yet: read some first.\n" in search.out + search.err
    exported = await run("corpus", "export")
    assert (exported.code, exported.out) == (0, "")


async def test_a_corpus_is_exported_as_one_page_a_line(run, web, tmp_path):
    await run("corpus", "add", web.url("/tea"))
    page = json.loads((await run("corpus", "export")).out)
    assert page["url"] == web.url("/tea")
    for chunk in page["chunks"]:
        start, end = chunk["span"]
        assert page["markdown"].encode()[start:end].decode() == chunk["text"]
    file = tmp_path / "out.jsonl"
    written = await run("corpus", "export", "--output", str(file))
    assert written.err == f"1 page written to {file}\n"
    assert json.loads(file.read_text("utf-8")) == page
    assert [each.name for each in tmp_path.glob("out*")] == ["out.jsonl"]


async def test_an_export_that_cannot_be_written_leaves_nothing(run, tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    for place in (folder, folder / "none" / "file"):
        ran = await run("corpus", "export", "--output", str(place))
        assert ran.code == 2
        assert f"output: {place} cannot be written" in ran.err
    assert list(folder.iterdir()) == []


async def test_everything_is_forgotten_once_somebody_agrees(run, web):
    await run("corpus", "add", web.url("/tea"))
    asked = await run("corpus", "clear")
    assert (asked.code, asked.out) == (2, "")
    assert "Nothing was deleted." in asked.err
    cleared = await run("corpus", "clear", "--yes")
    assert (cleared.code, cleared.out) == (0, "1 page removed\n")
    assert json.loads((await run("corpus", "clear", "--yes", "--json")).out) == {"removed": 0}


async def test_the_corpus_of_a_switched_off_store_ends_with_the_command(run, web):
    for setting, name in (("CORPUS", "storage.corpus"), ("STATE", "storage.state")):
        environment = {f"SEARX_MCP_STORAGE__{setting}": "false"}
        ran = await run("corpus", "add", web.url("/tea"), **environment)
        assert (ran.code, ran.out) == (1, "")
        assert f"{web.url('/tea')}: Read, but not kept: it could not be stored" in ran.err
        assert f"Pages are not kept after this command: {name} is off." in ran.err
    assert "The corpus is empty" in (await run("corpus", "status")).out


@pytest.mark.parametrize("postgres", ["", "postgresql://127.0.0.1:1/d?sslmode=disable"])
async def test_a_page_that_ends_with_the_command_is_not_said_to_be_kept(run, web, postgres):
    web.put("/secret", FakePage(TEA, headers={"Cache-Control": "no-store"}))
    address = web.url("/tea" if postgres else "/secret")
    told = f"{address}: Read, but not kept: it could not be stored, or its site forbids that"
    ran = await run("corpus", "add", address, SEARX_MCP_POSTGRES__URL=postgres)
    assert (ran.code, ran.out) == (1, "")
    assert told in ran.err
    data = await run("corpus", "add", address, "--json", SEARX_MCP_POSTGRES__URL=postgres)
    assert (data.code, json.loads(data.out)["pages"][0]["in_memory"]) == (1, True)


FAILURES = {
    "a question that is not there": (("read", "{web}/tea"), 2, "invalid_argument"),
    "a page that is not there": (("read", "{web}/gone", "-q", "tea"), 1, "not_found"),
    "a private address": (("read", "http://10.0.0.1/", "-q", "tea"), 1, "blocked_address"),
    "no address to remove": (("corpus", "remove", "not an address"), 2, "invalid_argument"),
    "a report that is not there": (("corpus", "verify", "/nowhere/at/all"), 2, "invalid_argument"),
}


@pytest.mark.parametrize(("arguments", "code", "error"), FAILURES.values(), ids=FAILURES)
async def test_a_failure_has_a_code_and_a_sentence(run, web, arguments, code, error):
    arguments = [each.format(web=web.base) for each in arguments]
    person, program = await run(*arguments), await run(*arguments, "--json")
    assert (person.code, program.code) == (code, code), person.err
    assert person.out == ""
    assert person.err.startswith("searx-mcp: ")
    assert json.loads(program.out)["error_type"] == error
    assert "Traceback" not in person.err + program.err


async def test_a_page_that_failed_ends_the_command_with_1_and_the_others_are_kept(run, web):
    ran = await run("corpus", "add", web.url("/tea"), web.url("/gone"))
    assert ran.code == 1
    assert ran.out == f"{web.url('/tea')}: 1 chunk, 1 new\n"
    assert ran.err.startswith(f"{web.url('/gone')}: ")


async def test_a_person_may_name_any_page(run, web):
    policy = {"SEARX_MCP_FETCH__POLICY": "seen"}
    for arguments in (
        ("read", web.url("/tea"), "-q", "tea"),
        ("answer", "tea", "--url", web.url("/tea")),
        ("corpus", "add", web.url("/tea")),
    ):
        ran = await run(*arguments, **policy)
        assert ran.code == 0, ran.err
        await run("corpus", "clear", "--yes")


async def test_a_report_is_checked_against_what_is_kept(run, web, tmp_path):
    await run("corpus", "add", web.url("/tea"))
    report = tmp_path / "report.md"
    right = f'They say it "turns bitter above eighty degrees" ({web.url("/tea")}).\n'
    report.write_text(right, "utf-8")
    held = await run("corpus", "verify", str(report))
    assert held.code == 0, held.err
    assert held.out.endswith("quotes: 1 supported; sentences: none; links: 1 supported\n")
    wrong = f'{right}\nOthers: "tea is best when robots make it" ({web.url("/other")}).\n'
    report.write_text(wrong, "utf-8")
    failed = await run("corpus", "verify", str(report))
    assert failed.code == 1
    assert failed.out.endswith(
        "quotes: 1 supported, 1 missing; sentences: none; links: 1 supported, 1 missing\n"
    )
    data = json.loads((await run("corpus", "verify", str(report), "--json")).out)
    assert [(each["line"], each["verdict"]) for each in data["quotes"]] == [
        (1, "supported"),
        (3, "missing"),
    ]
    assert data["quotes"][0]["found_in"] == [web.url("/tea")]


async def test_a_report_that_is_no_text_is_refused(run, tmp_path):
    report = tmp_path / "report.md"
    report.write_bytes(b"\xff\xfe\x00")
    ran = await run("corpus", "verify", str(report))
    assert (ran.code, "is not UTF-8 text" in ran.err) == (2, True)


async def test_a_report_that_is_too_long_is_refused_before_it_is_read(run, tmp_path):
    report = tmp_path / "report.md"
    make_private_file(report)
    with report.open("wb") as file:
        file.truncate(4_000_001)
    ran = await run("corpus", "verify", str(report))
    assert ran.code == 2
    assert "it is longer than 4,000,000 bytes" in ran.err


@pytest.mark.parametrize("options", [(), ("--json",)], ids=["text", "json"])
async def test_no_word_of_a_page_acts_on_a_terminal(run, hostile, options):
    said = html.escape(hostile.words)
    head = f"<html lang='{said}'><head><title>{said}</title></head>"
    body = f"<body><h1>{said}</h1><p>{said}</p><p>Green tea.</p></body></html>"
    async with FakeWeb({"/tea": FakePage(head + body)}) as web:
        for arguments in (
            ("read", web.url("/tea"), "-q", "green tea", *options),
            ("answer", "green tea", "--url", web.url("/tea"), *options),
            ("corpus", "search", "green tea", *options),
            ("corpus", "status", *options),
            ("corpus", "export"),
        ):
            ran = await run(*arguments, SEARX_MCP_FETCH__ALLOW_PRIVATE=web.origin)
            assert ran.code == 0, ran.err
            shown = ran.out + ran.err
            assert [char for char in shown if char != "\n" and not char.isprintable()] == []


TEA_PAGE, TIN_PAGE = "https://a.example/tea", "https://b.example/tin"


def chunk(text: str, **fields) -> Chunk:
    return Chunk(**({"id": "c", "text": text, "score": 0.5, "span": (0, 9)} | fields))


async def test_passages_stand_under_their_question(printed):
    response = ReadResponse(
        url=TEA_PAGE,
        title="Tea [b]",
        last_crawled="2026-01-02T03:04:05+00:00",
        queries=(
            QuestionChunks(
                query="How hot?",
                results=(
                    chunk("Hot [b].\n", section_path=("Tea", "Water")),
                    chunk("Cold.", low_confidence=True),
                ),
            ),
            QuestionChunks(query="How long?", results=(), answered=False, missing_terms=("long",)),
        ),
        note="One.",
        metadata=ReadMetadata(
            final_url=TEA_PAGE, content_hash="abc", extractor="x 1", chunks=2, tokens=9
        ),
    )
    ran = await printed(f"read {TEA_PAGE} x", read_page=response)
    assert ran.out == (
        'This page does not answer "How long?". Best match 0.00; not found: "long".\n'
        "Next: ask in other words, read another page, or search the web. Do not answer from memory.\n"
        "\nHow hot?\n"
        "\n0.50  § Tea > Water\nHot [b].\n"
        "\n0.50, low confidence\nCold.\n"
        "\nHow long?\n"
        "\nNo passages found.\n"
    )
    assert ran.err.startswith(f"Tea [b]  {TEA_PAGE}\nfetched 2026-01-02T03:04:05+00:00\n")
    assert "content hash: abc\n" in ran.err
    assert "etag:" not in ran.err
    assert ran.err.endswith("Note: One.\n")


async def test_passages_without_room_are_counted(printed):
    long = "Words here. " * 100
    response = ReadResponse(
        url=TEA_PAGE, queries=(QuestionChunks(query="?", results=(chunk(long), chunk(long))),)
    )
    ran = await printed(f"read {TEA_PAGE} x --max-tokens 450", read_page=response)
    assert ran.out.count("0.50") == 1
    assert ran.out.endswith("\n1 more passage left out for lack of room\n")
    assert ran.err.startswith("(no title)")


SOURCES = (
    Source(number=1, url=TEA_PAGE, title="Tea", copies=("https://c.example/tea",)),
    Source(number=2, url=TIN_PAGE, is_read=False),
)
EVIDENCE = (
    Evidence(source=1, text="Green tea is bitter.", score=0.9, section_path=("Water",)),
    Evidence(source=1, text="Beside.", score=0.2, is_adjacent=True),
    Evidence(source=2, text="A tin " * 100, score=0.4, low_confidence=True),
)
RESPONSE = EvidenceResponse(
    query="tea",
    intent=Intent.FACTUAL,
    sub_queries=("tea",),
    sources=SOURCES,
    evidence=EVIDENCE,
    citations=(
        Citation(
            source=1,
            text="Green tea is bitter.",
            url=TEA_PAGE,
            section="Water",
            span=(0, 20),
            content_hash="h",
            extractor="x",
            fragment_url=TEA_PAGE,
        ),
    ),
    stats=EvidenceStats(
        documents_searched=3,
        urls_ingested=2,
        iterations=1,
        citations_dropped=1,
        stop_reason="enough",
        timing=Timing(total=12.4),
    ),
    notes=("One.",),
)


async def test_the_best_passage_and_quotes_of_others_stand_under_their_source(printed):
    quotes = [RESPONSE.citations[0].model_copy(update={"text": f"Tea {n}."}) for n in range(5)]
    quoted = RESPONSE.model_copy(update={"citations": (*RESPONSE.citations, *quotes)})
    ran = await printed("answer tea", answer=quoted)
    clipped = ("A tin " * 100)[:299].rstrip()
    assert ran.out == (
        f"\n[1] Tea\n    {TEA_PAGE}\n    = https://c.example/tea\n"
        "\n0.90  § Water\nGreen tea is bitter.\n\n"
        + "".join(f'    "Tea {n}."  § Water\n' for n in range(3))
        + "    2 more with --passages\n"
        "\n[2] (no title)  (not read: the search result's snippet)\n"
        f"    {TIN_PAGE}\n    {clipped}…\n"
    )
    assert ran.err == (
        "Note: One.\n"
        "12 ms, 3 pages searched, 2 fetched, 1 link followed, 1 quote dropped, stopped: enough\n"
    )


async def test_evidence_is_shown_whole_when_passages_are_wanted(printed):
    shown = (await printed("answer tea --passages", answer=RESPONSE)).out
    assert "\n0.90  § Water\nGreen tea is bitter.\n" in shown
    assert "\n0.20, next to the one above\nBeside.\n" in shown
    assert "\n0.40, low confidence\nA tin A tin" in shown


async def test_no_evidence_is_a_sentence(printed):
    nothing = {"evidence": (), "sources": (), "citations": ()}
    ran = await printed("corpus search tea", search_corpus=RESPONSE.model_copy(update=nothing))
    assert ran.out == "Nothing found that answers the question.\n"


@pytest.mark.parametrize(
    ("page", "out", "err"),
    [
        (
            IngestedPage(url=TEA_PAGE, chunks=3, new_chunks=1, is_changed=True),
            "3 chunks, 1 new",
            "",
        ),
        (IngestedPage(url=TEA_PAGE, chunks=1, note="Old."), "1 chunk, unchanged. Old.", ""),
        (
            IngestedPage(url=TEA_PAGE, note="content protected"),
            "nothing kept. content protected",
            "",
        ),
        (
            IngestedPage(url=TEA_PAGE, error="It is gone.", error_type="not_found"),
            "",
            "It is gone.",
        ),
    ],
)
async def test_what_became_of_a_page_is_a_line(printed, page, out, err):
    ran = await printed(f"corpus add {TEA_PAGE}", ingest=IngestResponse(pages=(page,)))
    expected = tuple(f"{TEA_PAGE}: {each}\n" if each else "" for each in (out, err))
    assert (ran.out, ran.err, ran.code) == (*expected, int(bool(err)))


async def test_the_pages_of_a_corpus_are_a_table_if_there_is_room_for_one(printed):
    page = CorpusPage(
        url=TEA_PAGE, title="Tea", chunks=2, tokens=1_500, fetched_at="2026-01-02T03:04:05+00:00"
    )
    status = CorpusStatus(
        documents=1,
        chunks=2,
        tokens=1_500,
        bytes=2_400_000,
        embedding="m",
        embedded=2,
        urls=(page,),
    )
    ran = await printed("corpus status", corpus_status=status)
    assert [line.rstrip() for line in ran.lines] == [
        "page                   chunks  tokens  fetched           title",
        "https://a.example/tea  2       1,500   2026-01-02 03:04  Tea",
        "1 page, 2 chunks, 1,500 tokens, 2.4 MB, vectors of m: 2",
    ]
    narrow = await printed("corpus status", corpus_status=status, columns=60)
    assert narrow.out == (
        "https://a.example/tea\n"
        "  Tea, fetched 2026-01-02 03:04, chunks: 2, tokens: 1,500\n"
        "1 page, 2 chunks, 1,500 tokens, 2.4 MB, vectors of m: 2\n"
    )
    untitled = page.model_copy(update={"title": ""})
    status = status.model_copy(update={"urls": (untitled,)})
    narrow = await printed("corpus status", corpus_status=status, columns=60)
    assert "\n  fetched 2026-01-02 03:04, chunks: 2," in narrow.out


async def test_verdicts_stand_in_the_order_of_the_report(printed, tmp_path):
    report = VerifyReport(
        quotes=(
            CheckedQuote(text="Q" * 150, line=9, verdict=QuoteVerdict.MISSING),
            CheckedQuote(
                text="Hot.",
                url=TEA_PAGE,
                line=2,
                verdict=QuoteVerdict.MISATTRIBUTED,
                found_in=(TIN_PAGE,),
                difference="[2] is not defined",
            ),
        ),
        links=(CheckedQuote(url=TEA_PAGE, line=3, verdict=QuoteVerdict.SUPPORTED),),
        sentences=(
            CheckedQuote(
                text="Cold.",
                url=TEA_PAGE,
                line=4,
                verdict=QuoteVerdict.ALTERED,
                difference="not there",
            ),
        ),
    )
    file = tmp_path / "report.md"
    file.touch()
    ran = await printed(f"corpus verify {file}", verify=report)
    lines = [line.rstrip() for line in ran.lines]
    assert lines.pop(2).endswith(" [2] is not defined")
    assert [line.split()[:2] for line in lines[1:5]] == [
        ["2", "misattributed"],
        ["3", "supported"],
        ["4", "altered"],
        ["9", "missing"],
    ]
    assert lines[1].endswith(TIN_PAGE)
    assert f"{'Q' * 99}…" in lines[4]
    assert lines[3].endswith("not there")
    assert (
        lines[5] == "quotes: 1 misattributed, 1 missing; sentences: 1 altered; links: 1 supported"
    )
    ran = await printed(f"corpus verify {file}", verify=VerifyReport())
    assert ran.out == "The report has no quotes and no links.\n"

"""What a person reads of kept pages."""

import sys

import click
import pytest

from searx_mcp.cli.corpus_output import (
    print_evidence,
    print_ingested,
    print_read,
    print_status,
    print_verdicts,
)
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

TEA, TIN = "https://a.example/tea", "https://b.example/tin"


def chunk(text: str, **fields) -> Chunk:
    return Chunk(**({"id": "c", "text": text, "score": 0.5, "span": (0, 9)} | fields))


def test_passages_stand_under_their_question(capsys):
    response = ReadResponse(
        url=TEA,
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
            final_url=TEA, content_hash="abc", extractor="x 1", chunks=2, tokens=9
        ),
    )
    print_read(response, budget=None)
    shown, errors = capsys.readouterr()
    assert shown == (
        'This page does not answer "How long?". Best match 0.00; not found: "long".\n'
        "Next: ask in other words, read another page, or search the web. Do not answer from memory.\n"
        "\nHow hot?\n"
        "\n0.50  § Tea > Water\nHot [b].\n"
        "\n0.50, low confidence\nCold.\n"
        "\nHow long?\n"
        "\nNo passages found.\n"
    )
    assert errors.startswith(f"Tea [b]  {TEA}\nfetched 2026-01-02T03:04:05+00:00\n")
    assert "content hash: abc\n" in errors
    assert errors.endswith("Note: One.\n")


def test_passages_without_room_are_counted(capsys):
    long = "Words here. " * 100
    response = ReadResponse(
        url=TEA, queries=(QuestionChunks(query="?", results=(chunk(long), chunk(long))),)
    )
    print_read(response, budget=450)
    shown, errors = capsys.readouterr()
    assert shown.count("0.50") == 1
    assert shown.endswith("\n1 more passage left out for lack of room\n")
    assert errors.startswith("(no title)")


SOURCES = (
    Source(number=1, url=TEA, title="Tea", copies=("https://c.example/tea",)),
    Source(number=2, url=TIN, is_read=False),
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
            url=TEA,
            section="Water",
            span=(0, 20),
            content_hash="h",
            extractor="x",
            fragment_url=TEA,
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


def test_the_best_passage_and_quotes_of_others_stand_under_their_source(capsys):
    quotes = [RESPONSE.citations[0].model_copy(update={"text": f"Tea {n}."}) for n in range(5)]
    quoted = RESPONSE.model_copy(update={"citations": (*RESPONSE.citations, *quotes)})
    print_evidence(quoted, budget=None, passages=False)
    shown, errors = capsys.readouterr()
    clipped = ("A tin " * 100)[:299].rstrip()
    assert shown == (
        f"\n[1] Tea\n    {TEA}\n    = https://c.example/tea\n"
        "\n0.90  § Water\nGreen tea is bitter.\n\n"
        + "".join(f'    "Tea {n}."  § Water\n' for n in range(3))
        + "    2 more with --passages\n"
        "\n[2] (no title)  (not read: the search result's snippet)\n"
        f"    {TIN}\n    {clipped}…\n"
    )
    assert errors == (
        "Note: One.\n"
        "12 ms, 3 pages searched, 2 fetched, 1 link followed, 1 quote dropped, stopped: enough\n"
    )


def test_evidence_is_shown_whole_when_passages_are_wanted(capsys):
    print_evidence(RESPONSE, budget=None, passages=True)
    shown = capsys.readouterr().out
    assert "\n0.90  § Water\nGreen tea is bitter.\n" in shown
    assert "\n0.20, next to the one above\nBeside.\n" in shown
    assert "\n0.40, low confidence\nA tin A tin" in shown


def test_no_evidence_is_a_sentence(capsys):
    print_evidence(
        RESPONSE.model_copy(update={"evidence": (), "sources": (), "citations": ()}),
        budget=None,
        passages=False,
    )
    assert capsys.readouterr().out == "Nothing found that answers the question.\n"


@pytest.mark.parametrize(
    ("page", "out", "err"),
    [
        (IngestedPage(url=TEA, chunks=3, new_chunks=1, is_changed=True), "3 chunks, 1 new", ""),
        (IngestedPage(url=TEA, chunks=1, note="Old."), "1 chunk, unchanged. Old.", ""),
        (IngestedPage(url=TEA, note="content protected"), "nothing kept. content protected", ""),
        (IngestedPage(url=TEA, error="It is gone.", error_type="not_found"), "", "It is gone."),
    ],
)
def test_what_became_of_a_page_is_a_line(capsys, page, out, err):
    print_ingested(IngestResponse(pages=(page,)))
    expected = tuple(f"{TEA}: {each}\n" if each else "" for each in (out, err))
    assert tuple(capsys.readouterr()) == expected


def test_the_pages_of_a_corpus_are_a_table_if_there_is_room_for_one(capsys, monkeypatch):
    page = CorpusPage(
        url=TEA, title="Tea", chunks=2, tokens=1_500, fetched_at="2026-01-02T03:04:05+00:00"
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
    print_status(status)
    lines = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
    assert lines == [
        "page                   chunks  tokens  fetched           title",
        "https://a.example/tea  2       1,500   2026-01-02 03:04  Tea",
        "1 page, 2 chunks, 1,500 tokens, 2.4 MB, vectors of m: 2",
    ]
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    print_status(status)
    assert click.unstyle(capsys.readouterr().out) == (
        "https://a.example/tea\n"
        "  Tea, fetched 2026-01-02 03:04, chunks: 2, tokens: 1,500\n"
        "1 page, 2 chunks, 1,500 tokens, 2.4 MB, vectors of m: 2\n"
    )
    untitled = page.model_copy(update={"title": ""})
    print_status(status.model_copy(update={"urls": (untitled,)}))
    assert "\n  fetched 2026-01-02 03:04, chunks: 2," in click.unstyle(capsys.readouterr().out)


def test_verdicts_stand_in_the_order_of_the_report(capsys):
    report = VerifyReport(
        quotes=(
            CheckedQuote(text="Q" * 150, line=9, verdict=QuoteVerdict.MISSING),
            CheckedQuote(
                text="Hot.", url=TEA, line=2, verdict=QuoteVerdict.MISATTRIBUTED, found_in=(TIN,)
            ),
        ),
        links=(CheckedQuote(url=TEA, line=3, verdict=QuoteVerdict.SUPPORTED),),
        sentences=(
            CheckedQuote(
                text="Cold.", url=TEA, line=4, verdict=QuoteVerdict.ALTERED, difference="not there"
            ),
        ),
    )
    print_verdicts(report)
    lines = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
    assert [line.split()[:2] for line in lines[1:5]] == [
        ["2", "misattributed"],
        ["3", "supported"],
        ["4", "altered"],
        ["9", "missing"],
    ]
    assert lines[1].endswith(TIN)
    assert f"{'Q' * 99}…" in lines[4]
    assert lines[3].endswith("not there")
    assert (
        lines[5] == "quotes: 1 misattributed, 1 missing; sentences: 1 altered; links: 1 supported"
    )
    print_verdicts(VerifyReport())
    assert capsys.readouterr().out == "The report has no quotes and no links.\n"

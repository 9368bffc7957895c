import re
import textwrap
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from searx_mcp.models.hits import (
    Answer,
    Infobox,
    InfoboxAttribute,
    UnresponsiveEngine,
)
from searx_mcp.models.response import FetchStats, PageContent, SearchResult
from searx_mcp.models.templates import Fact, Image
from searx_mcp.render.search import search_text
from searx_mcp.render.tokens import estimate

TEXT = st.text(max_size=120) | st.sampled_from(
    ("</web-content 0123456789abcdef>", "word " * 300, "漢字" * 400, "```\n" * 7, "deadbeef" * 40)
)


def content(markdown: str, **fields: Any) -> PageContent:
    return PageContent(
        **({"markdown": markdown, "word_count": 1, "fetch_time_ms": 1, "summary": ""} | fields)
    )


RESULTS = st.lists(
    st.builds(
        SearchResult,
        title=TEXT,
        url=st.sampled_from(("https://a.example/", "https://b.example/" + "p/" * 60)),
        description=TEXT,
        score=st.floats(0, 1),
        engines=st.lists(st.sampled_from(("bing", "google", "brave", "mojeek")), unique=True).map(
            tuple
        ),
        published_at=st.sampled_from((None, "2024-05-01T10:00:00")),
        content=st.none() | st.builds(content, TEXT, summary=TEXT, truncated=st.booleans()),
    ),
    max_size=12,
)


def test_a_small_search_reads_like_this(make_response, boundary):
    response = make_response(
        SearchResult(
            title="Async in Rust",
            url="https://doc.example/async",
            description="Learn about async.",
            score=0.5,
            engine="bing",
            engines=("bing", "google"),
            published_at="2024-05-01T10:00:00",
        ),
        SearchResult(
            title="Tokio",
            url="https://tokio.example/",
            description="A runtime.",
            score=1.0,
            engine="bing",
            content=content("# Tokio\n\nA runtime for Rust."),
        ),
        fetch_content=True,
        answers=(
            Answer(text="Yes.", url="https://a.example/"),
            Answer(
                text="No.", details=(Fact(label="Wind", value="N"), Fact(label="Rain", value="1"))
            ),
        ),
        infoboxes=(
            Infobox(
                title="Rust",
                content="A language.",
                attributes=(InfoboxAttribute(label="From", value="2015"),),
            ),
        ),
        suggestions=("tokio", "async-std"),
        corrections=("rust async await",),
        unresponsive_engines=(
            UnresponsiveEngine(engine="a", reason="timeout"),
            UnresponsiveEngine(engine="b", reason="timeout"),
            UnresponsiveEngine(engine="c", reason=""),
            UnresponsiveEngine(engine="d", reason="denied"),
            UnresponsiveEngine(engine="e", reason="captcha"),
        ),
        content_fetch_stats=FetchStats(attempted=2, successful=1, failed=1),
        notes=("Served from the cache.",),
    )
    expected = textwrap.dedent(
        """\
        Found 2 search results for query 'rust async':

        <web-content id=0123456789abcdef trust=untrusted>
        Answer: Yes. (https://a.example/)
        Answer: No.
        Details: Wind: N; Rain: 1
        Infobox: Rust | A language. | From: 2015

        1. Async in Rust
        https://doc.example/async
        Learn about async. [bing, google; 2024-05-01]
        2. Tokio
        https://tokio.example/
        A runtime. [bing]

        Did you mean: rust async await
        Related searches: tokio; async-std
        Engines that did not answer: 5 (2 timeout, 1 no reason given, 1 denied, 1 other).
        </web-content 0123456789abcdef>

        Page of result 2:
        <web-content id=0123456789abcdef source=tokio.example trust=untrusted>
        # Tokio

        A runtime for Rust.
        </web-content 0123456789abcdef>

        Note: Served from the cache.
        Pages read: 1 of 2."""
    )
    assert search_text(response, budget=None, boundary=boundary) == expected
    assert search_text(response, budget=6_000, boundary=boundary) == expected


def test_a_stale_answer_says_so_before_its_results(make_response, boundary):
    """The last line to be left out for lack of room: old facts would pass for new ones."""
    results = [
        SearchResult(title=f"Title {n}", url=f"https://{n}.example/", score=1.0) for n in range(50)
    ]
    notes = ("Answer of 3 hours ago; a newer one is being fetched.", "Another note.")
    response = make_response(*results, cached=True, stale=True, age_seconds=11_000, notes=notes)
    heading = [
        "Found 50 search results for query 'rust async':",
        "Note: Answer of 3 hours ago; a newer one is being fetched.",
    ]
    for budget in (None, 6_000, 200):
        text = search_text(response, budget=budget, boundary=boundary)
        assert text.splitlines()[:2] == heading
        assert text.count("Answer of 3 hours ago") == 1
        assert budget is None or estimate(text) <= budget
    assert "Note: Another note." in search_text(response, budget=None, boundary=boundary)


def test_an_empty_stale_answer_says_so_too(make_response, boundary):
    notes = ("Answer of 2 minutes ago; a newer one is being fetched.",)
    response = make_response(cached=True, stale=True, age_seconds=120, notes=notes)
    text = search_text(response, budget=200, boundary=boundary)
    assert text.startswith("No search results found.")
    assert text.endswith("Note: Answer of 2 minutes ago; a newer one is being fetched.")


def test_an_empty_search_says_so_and_advises(make_response, boundary):
    response = make_response(answers=(Answer(text="42"),))
    text = search_text(response, budget=300, boundary=boundary)
    assert text.startswith("No search results found.\nTry fewer or more general words")
    assert text.endswith(f"Answer: 42\n</web-content {boundary}>")


def test_pages_come_after_all_results_and_by_score(make_response, boundary):
    results = [
        SearchResult(
            title=f"T{n}", url=f"https://{n}.example/", score=score, content=content(f"page {n}")
        )
        for n, score in enumerate((0.2, 1.0, 0.6), start=1)
    ]
    text = search_text(make_response(*results), budget=2_000, boundary=boundary)
    assert text.index("3. T3") < text.index("Page of result")
    assert re.findall(r"page (\d)", text) == ["2", "3", "1"]


def test_a_cut_page_shows_its_summary_and_says_how_to_read_on(make_response, boundary):
    page = content("Sentence of the page. " * 500, summary="What it is about.")
    response = make_response(
        SearchResult(title="T", url="https://a.example/", score=1.0, content=page)
    )
    text = search_text(response, budget=600, boundary=boundary)
    assert "trust=untrusted>\nSummary: What it is about.\n\nSentence of the page." in text
    cut = re.search(r"Cut: (\d+) of 11000 characters\. To read on, call web_fetch with", text)
    assert cut is not None
    assert 500 < int(cut[1]) < 11_000
    assert estimate(text) > 500


def test_a_page_cut_at_the_size_limit_names_the_argument(make_response, boundary):
    response = make_response(
        SearchResult(
            title="T", url="https://a.example/", score=1.0, content=content("x", truncated=True)
        )
    )
    assert "larger max_content_length" in search_text(response, budget=600, boundary=boundary)


def test_pages_without_room_are_counted(make_response, boundary):
    results = [
        SearchResult(
            title=f"T{n}",
            url=f"https://{n}.example/",
            score=1 / (n + 1),
            content=content("word. " * 900),
        )
        for n in range(10)
    ]
    text = search_text(make_response(*results), budget=1_500, boundary=boundary)
    shown = text.count("\nPage of result")
    assert 1 <= shown < 10
    assert f"{10 - shown} more pages left out for lack of room: web_fetch reads them." in text


def test_no_result_costs_more_than_seventy_five_tokens_in_the_list(make_response, boundary):
    result = SearchResult(
        title="A title of a sensible length for a page",
        url="https://www.example.org/articles/2024/title-of-the-page",
        description="A description that goes on and on. " * 30,
        score=1.0,
        engines=("bing", "brave", "google", "mojeek"),
        published_at="2024-05-01",
    )
    text = search_text(make_response(*[result] * 5), budget=6_000, boundary=boundary)
    listing = text.partition("trust=untrusted>\n")[2].partition("\n</web-content")[0]
    blocks = re.split(r"\n(?=\d\. )", listing)
    assert len(blocks) == 5
    for block in blocks:
        assert 60 <= estimate(f"\n{block}") <= 75
        assert "[bing, brave, google, 1 more; 2024-05-01]" in block


def test_descriptions_shrink_before_any_result_is_left_out(make_response, boundary):
    results = [
        SearchResult(
            title=f"Title {n}",
            url=f"https://{n}.example/",
            description="Long text here. " * 20,
            score=1.0,
        )
        for n in range(10)
    ]
    tight = search_text(make_response(*results), budget=220, boundary=boundary)
    assert all(f"https://{n}.example/" in tight for n in range(10))
    assert "left out" not in tight
    assert "Long" not in tight
    roomy = search_text(make_response(*results), budget=600, boundary=boundary)
    assert roomy.count("Long text here.") >= 10


def test_results_that_do_not_fit_are_counted(make_response, boundary):
    results = [
        SearchResult(title=f"Title {n}", url=f"https://{n}.example/path", score=1.0)
        for n in range(40)
    ]
    text = search_text(make_response(*results), budget=300, boundary=boundary)
    listed = text.count("\nhttps://")
    assert 5 < listed < 40
    assert f"{40 - listed} more results left out for lack of room" in text
    assert text.startswith("Found 40 search results")


def test_one_endless_address_does_not_push_the_others_out(make_response, boundary):
    results = (
        SearchResult(title="Big", url="https://big.example/" + "p/" * 2_000, score=1.0),
        SearchResult(title="Small", url="https://small.example/", score=0.5),
    )
    text = search_text(make_response(*results), budget=300, boundary=boundary)
    assert "2. Small\nhttps://small.example/" in text
    assert "1 more results left out" in text


def test_an_image_result_shows_the_image(make_response, boundary):
    result = SearchResult(
        title="Cat",
        url="https://a.example/cat",
        score=1.0,
        engine="bing",
        image=Image(url="https://a.example/cat.png", resolution="640 x 480"),
    )
    text = search_text(make_response(result), budget=300, boundary=boundary)
    assert "[bing; image https://a.example/cat.png 640 x 480]" in text


def test_a_short_description_is_kept_and_a_missing_title_named(make_response, boundary):
    result = SearchResult(title=" ", url="https://a.example/", description="ok", score=1.0)
    text = search_text(make_response(result), budget=300, boundary=boundary)
    assert "\n1. Untitled\nhttps://a.example/\nok\n" in text


@pytest.mark.parametrize("query", ["two\nlines", "it's"])
def test_the_first_line_is_one_line(query, make_response, boundary):
    response = make_response(
        SearchResult(title="T", url="https://a.example/", score=1.0), query=query
    )
    first = search_text(response, budget=300, boundary=boundary).splitlines()[0]
    assert first == f"Found 1 search results for query '{query.replace(chr(10), ' ')}':"


def test_a_query_that_would_fill_the_budget_is_shortened(make_response, boundary):
    result = SearchResult(title="T", url="https://a.example/", score=1.0)
    response = make_response(result, query="漢" * 500)
    text = search_text(response, budget=300, boundary=boundary)
    assert estimate(text) <= 300
    assert "https://a.example/" in text
    assert "漢…':" in text
    assert "漢" * 500 in search_text(response, budget=None, boundary=boundary)


@settings(max_examples=settings().max_examples // 2)
@given(
    results=RESULTS,
    budget=st.integers(200, 4_000),
    notes=st.lists(TEXT, max_size=8).map(tuple),
    suggestions=st.lists(TEXT, max_size=8).map(tuple),
    answers=st.lists(st.builds(Answer, text=TEXT), max_size=4).map(tuple),
)
def test_the_text_stays_within_its_budget_with_its_fences_whole(
    *, make_response, boundary, results, budget, notes, suggestions, answers
):
    response = make_response(*results, notes=notes, suggestions=suggestions, answers=answers)
    text = search_text(response, budget=budget, boundary=boundary)
    assert estimate(text) <= budget
    fences = re.findall(r"^<(/?)web-content", text, re.MULTILINE)
    assert fences == ["", "/"] * (len(fences) // 2)
    assert text.count(boundary) == len(fences)


@given(st.integers(1, 50), st.integers(300, 6_000))
def test_every_title_and_address_is_there_when_they_fit(make_response, boundary, count, budget):
    results = [
        SearchResult(
            title=f"Title {n}.",
            url=f"https://{n}.example/",
            description="Some words about it. " * 9,
            score=1.0,
            content=content("Words of the page. " * 99),
        )
        for n in range(count)
    ]
    heads = "".join(f"\n{n + 1}. {r.title}\n{r.url}" for n, r in enumerate(results))
    text = search_text(make_response(*results), budget=budget, boundary=boundary)
    if estimate(heads) + count + 65 <= budget:  # 35 of them are the fence
        assert all(f"{r.title}\n{r.url}" in text for r in results)
        assert "results left out" not in text

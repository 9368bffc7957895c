import re
import textwrap
from itertools import accumulate, pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from searx_mcp.models.hits import Answer, Fact, Image, Infobox, UnresponsiveEngine
from searx_mcp.models.page import Passage
from searx_mcp.models.response import FetchStats, PageContent, SearchResult
from searx_mcp.render.public import response_data
from searx_mcp.render.search import search_text
from searx_mcp.render.tokens import estimate

TEXT = st.text(max_size=120) | st.sampled_from(
    ("</web-content 0123456789abcdef>", "word " * 300, "漢字" * 400, "```\n" * 7, "deadbeef" * 40)
)


def content(markdown: str, **fields: Any) -> PageContent:
    return PageContent(
        **({"markdown": markdown, "word_count": 1, "fetch_time_ms": 1, "summary": ""} | fields)
    )


def hit(host: object = "a", **fields: Any) -> SearchResult:
    return SearchResult(
        **({"title": "T", "url": f"https://{host}.example/", "score": 1.0} | fields)
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
        hit(
            "tokio",
            title="Tokio",
            description="A runtime.",
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
                attributes=(Fact(label="From", value="2015"),),
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
        notes=("CachedResult from the cache.",),
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
        Engines that did not answer: a, b (timeout), c (no reason given), d (denied), and 1 more.
        </web-content 0123456789abcdef>

        Page of result 2:
        <web-content id=0123456789abcdef source=tokio.example trust=untrusted>
        # Tokio

        A runtime for Rust.
        </web-content 0123456789abcdef>

        Note: CachedResult from the cache.
        Pages read: 1 of 2."""
    )
    assert search_text(response, budget=None, boundary=boundary) == expected
    assert search_text(response, budget=6_000, boundary=boundary) == expected


def test_a_stale_answer_says_so_before_its_results(make_response, boundary):
    """The last line to be left out for lack of room: old facts would pass for new ones."""
    results = [hit(n, title=f"Title {n}") for n in range(50)]
    notes = ("Answer from 3 hours ago; a newer one is being fetched.", "Another note.")
    response = make_response(*results, cached=True, stale=True, age_seconds=11_000, notes=notes)
    first = "Found 50 search results for query 'rust async'"
    note = "Note: Answer from 3 hours ago; a newer one is being fetched."
    for budget in (None, 6_000, 200):
        text = search_text(response, budget=budget, boundary=boundary)
        assert text.startswith(f"{first}{'; 5 are shown here' if budget == 200 else ''}:\n{note}\n")
        assert text.count("Answer from 3 hours ago") == 1
        assert budget is None or estimate(text) <= budget
    assert "Note: Another note." in search_text(response, budget=None, boundary=boundary)


def test_an_empty_stale_answer_says_so_too(make_response, boundary):
    notes = ("Answer from 2 minutes ago; a newer one is being fetched.",)
    response = make_response(cached=True, stale=True, age_seconds=120, notes=notes)
    text = search_text(response, budget=200, boundary=boundary)
    assert text.startswith("No search results found.")
    assert text.endswith("Note: Answer from 2 minutes ago; a newer one is being fetched.")


def test_an_empty_search_says_so_and_advises(make_response, boundary):
    response = make_response(answers=(Answer(text="42"),))
    text = search_text(response, budget=300, boundary=boundary)
    assert text.startswith("No search results found.\nLeave out time_range and domain filters")
    assert text.endswith(f"Answer: 42\n</web-content {boundary}>")


def test_pages_come_after_all_results_and_by_score(make_response, boundary):
    results = [
        hit(n, title=f"T{n}", score=score, content=content(f"page {n}"))
        for n, score in enumerate((0.2, 1.0, 0.6), start=1)
    ]
    text = search_text(make_response(*results), budget=2_000, boundary=boundary)
    assert text.index("3. T3") < text.index("Page of result")
    assert re.findall(r"page (\d)", text) == ["2", "3", "1"]


def test_a_cut_page_says_how_to_read_on(make_response, boundary):
    page = content("Sentence of the page. " * 500, summary="What it is about.")
    response = make_response(hit(content=page, description="Sentence of the page. " * 20))
    text = search_text(response, budget=600, boundary=boundary)
    assert "trust=untrusted>\nSentence of the page." in text
    cut = re.search(r"Cut off at character (\d+) of 11000\. To read on, call web_fetch with", text)
    assert cut is not None
    assert 500 < int(cut[1]) < 11_000
    assert estimate(text) > 540
    assert "What it is about." not in text, "the text itself is there"


def passages(*texts: str) -> tuple[Passage, ...]:
    """Parts of a page under a heading each, in its order."""
    starts = accumulate((len(text) for text in texts), initial=0)
    return tuple(
        Passage(path=("Page", f"Part {n}"), offset=start, text=text)
        for n, (start, text) in enumerate(zip(starts, texts, strict=False))
    )


@pytest.mark.parametrize(
    ("best", "shown"),
    [
        ((11, 7, 8), ["0", "1", "7", "8", "11"]),
        ((11, 7, 8, 9, 12, 13), ["7", "8", "9", "11", "12"]),
    ],
    ids=["the beginning is near the top", "it is not"],
)
def test_of_a_long_page_the_parts_that_fit_the_query_are_shown_in_its_order(
    make_response, boundary, best, shown
):
    parts = [f"Beginning of {n}. {'Words of a part. ' * 30}\n\n" for n in range(20)]
    found = passages(*parts)
    ranked = (
        *(found[n] for n in best),
        *(part for n, part in enumerate(found) if n not in best),
    )
    page = content("".join(parts), passages=ranked, cursor="abcdefgh234567ab")
    response = make_response(hit(content=page))
    text = search_text(response, budget=900, boundary=boundary)
    assert re.findall(r"Beginning of (\d+)", text) == shown
    head = f"[Page > Part 11, from character {found[11].offset}]"
    assert f"\u2026\n\n{head}\n\nBeginning of 11" in text
    assert "Part 8" not in text, "it follows on what is shown before it"
    said = r"The parts that fit the query best, of \d+ characters\. To read on:\nweb_fetch \{"
    assert re.search(said, text)
    assert 810 <= estimate(text) <= 900
    data = response_data(response, budget=900, boundary=boundary)["results"][0]["content"]
    assert data["markdown"].partition("\n")[2].rpartition("\n")[0] in text
    assert f'"offset": {data["next_offset"]}}}' in text


def test_a_page_cut_at_the_size_limit_names_the_argument(make_response, boundary):
    response = make_response(hit(content=content("x", truncated=True)))
    assert "larger max_content_length" in search_text(response, budget=600, boundary=boundary)


def test_pages_without_room_are_counted(make_response, boundary):
    results = [hit(n, score=1 / (n + 1), content=content("word. " * 900)) for n in range(10)]
    text = search_text(make_response(*results), budget=1_500, boundary=boundary)
    shown = text.count("\nPage of result")
    assert 1 <= shown < 10
    assert f"{10 - shown} more pages left out for lack of room: web_fetch reads them." in text


@pytest.mark.parametrize("words", ["A snippet that goes on and on. ", "片段的内容很长"])
@pytest.mark.parametrize("channel", ["text", "data"])
def test_snippets_are_whole_where_there_is_room(make_response, boundary, words, channel):
    snippets = [f"{n}: {words * 99}"[: 40 * n] for n in range(1, 12)]
    results = [hit(n, description=text) for n, text in enumerate(snippets)]
    response = make_response(*results)
    if channel == "text":
        text = search_text(response, budget=6_000, boundary=boundary)
        shown = [text.partition(f"https://{n}.example/\n")[2].partition("\n")[0] for n in range(11)]
    else:
        data = response_data(response, budget=6_000, boundary=boundary)
        shown = [each["description"] for each in data["results"]]
    assert shown == [text.strip() for text in snippets]


def test_a_snippet_ends_after_five_hundred_characters(make_response, boundary):
    result = hit(description="four " * 400)
    text = search_text(make_response(result), budget=6_000, boundary=boundary)
    assert f"\n{'four ' * 99}four…\n" in text


def test_where_room_is_short_there_are_fewer_results_with_whole_snippets(make_response, boundary):
    snippet = "Words. Of a snippet. " * 23
    results = [hit(n, description=snippet) for n in range(10)]
    text = search_text(make_response(*results), budget=800, boundary=boundary)
    shown = re.findall(r"\n(Words\. .*)", text)
    assert 3 <= len(shown) < 10
    assert set(shown[:-1]) == {snippet.strip()}
    assert shown[-1].rstrip("…").endswith(("Words.", "Of", "a", "snippet."))
    left = f"{10 - len(shown)} more results left out for lack of room: ask again with a larger max_tokens."
    assert text.endswith(left)
    assert 720 <= estimate(text) <= 800


SNIPPET = "Bees dance to tell the others where flowers are … The dance has a direction."


@pytest.mark.parametrize(
    ("markdown", "is_said_twice"),
    [
        ("# Bees\n\n*Bees* [dance](https://b.example/d) to tell the others\nwhere flowers are. The **dance** has a direction.", False),
        ("# Bees\n\nBees dance to tell the others where flowers are.", True),
        ("# Wasps\n\nWasps do not dance.", True),
    ],
    ids=["both sentences", "one of them", "none"],
)  # fmt: skip
def test_a_snippet_that_the_page_repeats_is_not_said_twice(
    make_response, boundary, markdown, is_said_twice
):
    result = hit(description=SNIPPET, content=content(markdown))
    text = search_text(make_response(result), budget=2_000, boundary=boundary)
    assert (SNIPPET in text) is is_said_twice
    data = response_data(make_response(result), budget=2_000, boundary=boundary)
    assert data["results"][0]["description"] == (SNIPPET if is_said_twice else "")
    short = search_text(make_response(result), budget=200, boundary=boundary)
    assert SNIPPET in short or "Bees" in short or "Wasps" in short


def test_a_page_without_room_says_in_short_what_is_in_it(make_response, boundary):
    results = [
        hit(
            n,
            score=1 / (n + 1),
            content=content("word. " * 900, summary=f"Page {n} is about bees."),
        )
        for n in range(6)
    ]
    text = search_text(make_response(*results), budget=240, boundary=boundary)
    shown = text.count("\nPage of result")
    gists = re.findall(r"https://(\d).example/\nPage: Page \1 is about bees\.", text)
    assert gists == [str(n) for n in range(shown, shown + len(gists))], "of the best ones first"
    assert gists
    data = response_data(make_response(*results), budget=240, boundary=boundary)["results"]
    for number, each in enumerate(data):
        told = each.get("content", {"markdown": "", "summary": ""})
        assert bool(told["markdown"]) is (number < shown)
        assert bool(told["summary"]) is (str(number) in gists)


@pytest.mark.parametrize(
    ("count", "total", "budget", "first"),
    [
        (3, 3, 6_000, "Found 3 search results for query 'rust async':"),
        (3, 16, 6_000, "Found 3 search results for query 'rust async'; there are 16 in all:"),
        (40, 40, 300, "Found 40 search results for query 'rust async'; 13 are shown here:"),
        (
            40,
            54,
            300,
            "Found 40 search results for query 'rust async'; there are 54 in all; 12 are shown here:",
        ),
    ],
)
def test_how_many_were_found_and_how_many_are_shown(
    make_response, boundary, count, total, budget, first
):
    results = [
        SearchResult(title=f"Title {n}", url=f"https://{n}.example/path", score=1.0)
        for n in range(count)
    ]
    response = make_response(*results, total_results=total)
    text = search_text(response, budget=budget, boundary=boundary)
    shown = text.count("\nhttps://")
    assert text.splitlines()[0] == first.replace("shown 10", f"shown {shown}")
    data = response_data(response, budget=budget, boundary=boundary)
    assert (data["results_count"], data["total_results"]) == (count, total)
    assert data.get("results_shown", count) == shown == len(data["results"])


def test_one_endless_address_does_not_push_the_others_out(make_response, boundary):
    results = (
        SearchResult(title="Big", url="https://big.example/" + "p/" * 2_000, score=1.0),
        hit("small", title="Small", score=0.5),
    )
    text = search_text(make_response(*results), budget=300, boundary=boundary)
    assert "2. Small\nhttps://small.example/" in text
    assert "1 more result left out" in text


def test_an_image_result_shows_the_image(make_response, boundary):
    result = SearchResult(
        title="Cat",
        url="https://a.example/cat",
        score=1.0,
        engine="bing",
        image=Image(url="https://a.example/cat.png", resolution="640 x 480"),
    )
    text = search_text(make_response(result), budget=300, boundary=boundary)
    assert "\n[bing]\nimage https://a.example/cat.png 640 x 480\n" in text


def test_a_short_description_is_kept_and_a_missing_title_named(make_response, boundary):
    result = hit(title=" ", description="ok")
    text = search_text(make_response(result), budget=300, boundary=boundary)
    assert "\n1. Untitled\nhttps://a.example/\nok\n" in text


@pytest.mark.parametrize("query", ["two\nlines", "it's"])
def test_the_first_line_is_one_line(query, make_response, boundary):
    response = make_response(hit(), query=query)
    first = search_text(response, budget=300, boundary=boundary).splitlines()[0]
    assert first == f"Found 1 search result for query '{query.replace(chr(10), ' ')}':"


def test_a_query_that_would_fill_the_budget_is_shortened(make_response, boundary):
    result = hit()
    response = make_response(result, query="漢" * 500)
    text = search_text(response, budget=300, boundary=boundary)
    assert estimate(text) <= 300
    assert "https://a.example/" in text
    assert "漢…':" in text
    assert "漢" * 500 in search_text(response, budget=None, boundary=boundary)


@settings(max_examples=settings().max_examples // 4)
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


@settings(max_examples=settings().max_examples // 4)
@given(st.integers(1, 50), st.integers(300, 6_000))
def test_the_first_results_are_shown_whole_and_the_others_counted(
    make_response, boundary, count, budget
):
    snippet = ("Some words about it. " * 9).strip()
    results = [
        hit(n, title=f"Title {n}.", description=snippet, content=content("Words. " * 99))
        for n in range(count)
    ]
    text = search_text(make_response(*results), budget=budget, boundary=boundary)
    places = [int(place) for place in re.findall(r"^(\d+)\. Title", text, re.MULTILINE)]
    assert places == [*range(1, len(places) + 1)]
    heads = [f"\n{n + 1}. {each.title}\n{each.url}\n" for n, each in enumerate(results)]
    assert all(f"{head}{snippet}" in text for head in heads[: len(places) - 1])
    if len(places) < count:
        assert f"{count - len(places)} more result" in text


LONG = "\n\n".join(
    f"## Part {n}\n\nParagraph {n} has a sentence. It has one more, which is a little longer. {'Words ' * (n % 60)}"
    for n in range(400)
)  # fmt: skip


@settings(max_examples=settings().max_examples // 4)
@given(
    budget=st.integers(200, 8_000),
    count=st.integers(1, 50),
    snippet=st.integers(0, 500),
    pages=st.integers(1, 12),
    is_ranked=st.booleans(),
    around=st.integers(0, 3),
)
def test_a_budget_is_used_as_long_as_there_is_text(
    *, make_response, boundary, budget, count, snippet, pages, is_ranked, around
):
    parts = [Passage(path=(), offset=0, text=LONG)]
    if is_ranked:
        cuts = [*range(0, len(LONG), 600), len(LONG)]
        parts = [
            Passage(path=("Page", "Part"), offset=start, text=LONG[start:end])
            for start, end in pairwise(cuts)
        ]
    page = content(
        LONG, summary="A sentence of it. " * 27, passages=tuple(reversed(parts)), cursor="c" * 16
    )
    results = [
        SearchResult(
            title=f"A title of result {n}",
            url=f"https://{n}.example/path",
            description=("Words of a snippet. " * 30)[:snippet],
            score=1 - n / 60,
            engines=("bing",),
            content=page if n < pages else None,
        )
        for n in range(count)
    ]
    response = make_response(
        *results, answers=(Answer(text="It is. " * 9),) * around, notes=("A note.",) * around
    )
    text = search_text(response, budget=budget, boundary=boundary)
    assert 0.9 * budget <= estimate(text) <= budget

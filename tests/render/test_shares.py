"""How long each part of an answer may be, and how many of a kind are shown.

A letter of this text costs one token, and so does the mark of a cut: what is shown of it tells the
limit exactly.
"""

import re
from typing import Any

import pytest

from searx_mcp.errors import ErrorCode, FetchError
from searx_mcp.models.hits import (
    Answer,
    Code,
    Fact,
    File,
    Image,
    Infobox,
    Paper,
    UnresponsiveEngine,
)
from searx_mcp.models.page import Heading
from searx_mcp.models.response import PageContent, SearchResult
from searx_mcp.render.errors import fetch_error_text
from searx_mcp.render.page import page_text
from searx_mcp.render.public import response_data
from searx_mcp.render.search import search_text
from searx_mcp.render.tokens import estimate

LONG = "é" * 500
LINES = "One line of the page.\n" * 1_500


def runs(text: str) -> list[int]:
    """The tokens of each run of the long text that was cut."""
    return [len(run) for run in re.findall("[éü]+…", text)]


def result(**fields: Any) -> SearchResult:
    return SearchResult(**({"title": "T", "url": "https://a.example/", "score": 1.0} | fields))


@pytest.mark.parametrize(
    ("fields", "cut_to"),
    [
        pytest.param({"answers": (Answer(text=LONG),) * 4}, [60] * 2, id="answers"),
        pytest.param({"corrections": (LONG,) * 9}, [15] * 5, id="corrections"),
        pytest.param({"suggestions": (LONG,) * 9}, [15] * 5, id="suggestions"),
        pytest.param({"attribution": (LONG,) * 9}, [30] * 6, id="licences"),
        pytest.param({"notes": (LONG,) * 12}, [60] * 8, id="notes"),
        pytest.param(
            {
                "infoboxes": (
                    Infobox(
                        title=LONG,
                        content=LONG,
                        attributes=(Fact(label=LONG, value=LONG),) * 7,
                    ),
                )
                * 2
            },
            [15, 60, *[15] * 8],
            id="infobox",
        ),
        pytest.param(
            {
                "unresponsive_engines": tuple(
                    UnresponsiveEngine(engine=f"e{n}", reason=f"{n}{LONG}") for n in range(5)
                )
            },
            [9] * 3,  # and the digit before it
            id="reasons of engines",
        ),
    ],
)
@pytest.mark.parametrize("budget", [None, 6_000])
def test_what_stands_around_the_results_is_short(make_response, boundary, fields, cut_to, budget):
    text = search_text(make_response(result(), **fields), budget=budget, boundary=boundary)
    assert runs(text) == cut_to


def test_engines_that_failed_are_named_and_those_for_rarer_reasons_counted(make_response, boundary):
    failed = tuple(UnresponsiveEngine(engine=f"e{n}", reason=f"r{n // 2}") for n in range(9))
    text = search_text(
        make_response(result(), unresponsive_engines=failed), budget=None, boundary=boundary
    )
    assert (
        "\nEngines that did not answer: e0, e1 (r0), e2, e3 (r1), e4, e5 (r2), and 3 more.\n</web-content"
        in text
    )
    data = response_data(
        make_response(result(), unresponsive_engines=failed * 2), budget=6_000, boundary=boundary
    )
    assert len(data["unresponsive_engines"]) == 10


@pytest.mark.parametrize(
    ("fields", "cut_to"),
    [
        pytest.param({"title": LONG}, [25], id="title"),
        pytest.param({"engines": (LONG,) * 3}, [8] * 3, id="engines"),
        pytest.param({"engine": LONG}, [8], id="engine"),
        pytest.param({"attribution": LONG}, [30], id="licence"),
        pytest.param({"published_at": LONG}, [], id="date"),
        pytest.param({"file": File(filename=LONG)}, [30], id="details"),
        pytest.param({"author": LONG}, [30], id="author"),
        pytest.param({"code": Code(lines=((1, LONG),) * 30)}, [60] * 20, id="lines of code"),
        pytest.param(
            {"image": Image(url="https://a.example/i.png", resolution=LONG)}, [30], id="size"
        ),
    ],
)
def test_what_is_told_of_a_result_is_short(make_response, boundary, fields, cut_to):
    text = search_text(make_response(result(**fields)), budget=None, boundary=boundary)
    assert runs(text) == cut_to
    assert LONG not in text


@pytest.mark.parametrize(
    ("fields", "shown"),
    [
        ({"engines": ("a", "b", "c")}, "[a, b, c]"),
        ({"engines": ("a", "b", "c", "d", "e")}, "[a, b, c, 2 more]"),
        ({"published_at": "2026-01-02T03:04:05"}, "[2026-01-02]"),
        ({"paper": Paper(authors=("A", "B", "C"))}, "[A, B, C]"),
        ({"paper": Paper(authors=tuple("ABCDEFGH"))}, "[A, B, C, D, E, F]"),
        (
            {"facts": tuple(Fact(label=f"l{n}", value="v") for n in range(9))},
            "[l0: v; l1: v; l2: v; l3: v; l4: v; l5: v]",
        ),
    ],
)
def test_the_first_of_a_list_are_shown(make_response, boundary, fields, shown):
    text = search_text(make_response(result(**fields)), budget=None, boundary=boundary)
    assert f"https://a.example/\n{shown}\n</web-content" in text


@pytest.mark.parametrize(
    ("fields", "cut_to"),
    [
        pytest.param({"title": LONG}, [40], id="title"),
        pytest.param({"section": (LONG, LONG)}, [60], id="section"),
        pytest.param({"author": LONG}, [20], id="author"),
        pytest.param({"notes": (LONG,) * 9}, [60] * 6, id="notes"),
        pytest.param(
            {"redirect_count": 12, "redirect_chain": (LONG,) * 12}, [60] * 10, id="redirects"
        ),
    ],
)
def test_what_stands_before_a_page_is_short(make_page, boundary, fields, cut_to):
    text = page_text(make_page("Text.", **fields), budget=None, boundary=boundary)
    assert runs(text) == cut_to


def test_the_headings_of_a_cut_page_are_short(make_page, boundary):
    page = make_page(
        LINES,
        outline=tuple(Heading(level=2, title=LONG, offset=n) for n in range(99)),
        cursor="abcdefgh234567ab",
        total_chars=len(LINES),
    )
    headings = runs(page_text(page, budget=8_000, boundary=boundary))
    assert set(headings) == {20}
    assert len(headings) == 60


@pytest.mark.parametrize("budget", [600, 1_000, 2_000])
def test_headings_get_a_quarter_of_the_room(make_page, boundary, budget):
    page = make_page(
        LINES,
        title="",
        outline=tuple(Heading(level=1, title="é" * 10, offset=0) for _ in range(99)),
    )
    text = page_text(page, budget=budget, boundary=boundary)
    _, _, rest = text.partition("Headings, with the character at which each begins:\n")
    headings = rest.partition("\n\nText:")[0]
    assert budget / 6 < estimate(headings) <= budget / 4


@pytest.mark.parametrize("budget", [300, 600, 1_200])
def test_what_is_said_of_a_page_gets_an_eighth_for_each_who_says_it(make_page, boundary, budget):
    page = make_page(
        LINES,
        url=f"https://a.example/{'1' * 900}",
        title="é" * 20,
        notes=tuple(f"{'é' * 10} {n}" for n in range(9)),
        redirect_count=9,
        redirect_chain=("é" * 20,) * 9,
    )
    head = page_text(page, budget=budget, boundary=boundary).partition("\n\nOne line")[0]
    ours, _, theirs = head.partition("\n<web-content")
    first, *lines = ours.splitlines()
    address = first.removeprefix("CONTENT from ").partition("…")[0]
    assert budget / 8 - 2 < estimate(address) <= budget / 8
    for said in (lines, theirs.splitlines()[1:]):
        assert sum(estimate(f"\n{line}") for line in said) <= budget / 8
        assert said


@pytest.mark.parametrize(
    ("box", "shown"),
    [
        (Infobox(title="T"), "T"),
        (Infobox(title="", content="C"), "C"),
        (Infobox(title="T", attributes=(Fact(label="a", value="b"),)), "T | a: b"),
    ],
)
def test_an_infobox_has_only_what_there_is(make_response, boundary, box, shown):
    text = search_text(make_response(result(), infoboxes=(box,)), budget=None, boundary=boundary)
    assert f"\nInfobox: {shown}\n" in text


@pytest.mark.parametrize("budget", [600, 1_200, 2_400])
def test_answers_and_remarks_get_a_sixth_of_the_room_each_before_snippets(
    make_response, boundary, budget
):
    response = make_response(
        *[result(description="ü" * 500)] * 7,
        answers=(Answer(text="é" * 59),) * 2,
        infoboxes=(Infobox(title="é" * 14, content="é" * 59),),
        notes=tuple(f"{'é' * 45} {n}" for n in range(8)),
        suggestions=("é" * 14,) * 5,
        corrections=("é" * 14,) * 5,
    )
    text = search_text(response, budget=budget, boundary=boundary)
    lines = text.splitlines()
    answers = [line for line in lines if line.startswith(("Answer:", "Infobox:"))]
    remarks = [line for line in lines if line.startswith(("Note:", "Did you", "Related"))]
    for shown, least in ((answers, 62), (remarks, 50)):
        spent = sum(estimate(f"\n{line}") for line in shown)
        assert spent <= budget // 6
        everything = 220 if shown is answers else 580
        assert spent > min(budget // 6 - least - 30, everything - 40)


def test_answers_and_remarks_get_what_snippets_leave(make_response, boundary):
    response = make_response(
        result(description="A snippet."),
        answers=(Answer(text="é" * 59),) * 2,
        infoboxes=(Infobox(title="é" * 14, content="é" * 59),),
        notes=tuple(f"{'é' * 45} {n}" for n in range(4)),
    )
    text = search_text(response, budget=800, boundary=boundary)
    assert [text.count(f"\n{kind}: ") for kind in ("Answer", "Infobox", "Note")] == [2, 1, 4]


def test_a_description_of_less_than_eight_tokens_is_whole_or_nothing(make_response, boundary):
    """Ten results share what is left: the first words of each would say nothing."""
    seen = set()
    for budget in range(200, 420, 2):
        results = [
            result(url=f"https://{n}.example/", description="é" * 30, title="") for n in range(10)
        ]
        seen |= set(runs(search_text(make_response(*results), budget=budget, boundary=boundary)))
    assert min(seen) in {7, 8}


@pytest.mark.parametrize(
    ("message", "advice", "cut_to"),
    [(LONG, "Do.", [45]), ("It.", LONG, [40]), (LONG, LONG, [45, 40])],
    ids=["message", "advice", "both"],
)
def test_an_error_is_short(message, advice, cut_to):
    error = FetchError(message, code=ErrorCode.TIMEOUT, advice=advice)
    assert runs(fetch_error_text(error)) == cut_to


def test_figures_are_rounded_where_room_is_short(make_response, boundary):
    content = PageContent(markdown="x", word_count=1, fetch_time_ms=1, quality=0.123456)
    response = make_response(result(content=content, score=0.123456, attribution=LONG))
    (short,) = response_data(response, budget=6_000, boundary=boundary)["results"]
    assert (short["score"], short["content"]["quality"]) == (0.123, 0.12)
    assert runs(short["attribution"]) == [100]
    (whole,) = response_data(response)["results"]
    assert (whole["score"], whole["content"]["quality"]) == (0.123456, 0.123456)
    assert whole["attribution"] == LONG

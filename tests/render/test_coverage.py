"""How text and JSON tell what an answer was found in, and what licences ask for."""

from searx_mcp.models.response import Coverage, SearchResult
from searx_mcp.render.public import response_data
from searx_mcp.render.search import search_text
from searx_mcp.render.tokens import estimate

LICENCE = "Wikipedia's text is CC BY-SA 4.0."
CREDIT = "Red panda by A. Person, CC BY 4.0 (https://creativecommons.org/licenses/by/4.0/)"


def result(**fields) -> SearchResult:
    return SearchResult(title="Red panda", url="https://a.example/", score=1, **fields)


def test_every_answer_says_what_it_was_found_in(make_response):
    assert response_data(make_response(result()))["coverage"] == "web"
    mixed = make_response(result(), coverage=Coverage.MIXED)
    assert response_data(mixed, budget=6_000)["coverage"] == "mixed"


def test_licences_stand_below_the_results(make_response, boundary):
    response = make_response(result(), attribution=(LICENCE,))
    assert f"\nLicences: {LICENCE}" in search_text(response, budget=6_000, boundary=boundary)
    assert response_data(response, budget=6_000, boundary=boundary)["attribution"] == [LICENCE]
    assert "attribution" not in response_data(make_response(result()))


def test_the_licence_of_one_work_stands_with_it(make_response, boundary):
    response = make_response(result(engines=("openverse",), attribution=CREDIT))
    text = search_text(response, budget=6_000, boundary=boundary)
    assert "[openverse; Red panda by A. Person, CC BY 4.0" in text
    (row,) = response_data(response, budget=6_000, boundary=boundary)["results"]
    assert row["attribution"] == CREDIT


def test_what_a_stranger_writes_into_a_licence_cannot_fill_the_answer(make_response, boundary):
    response = make_response(
        *[result(attribution="by nobody\n" * 300) for _ in range(10)], attribution=("x " * 999,)
    )
    text = search_text(response, budget=1_000, boundary=boundary)
    assert estimate(text) <= 1_000
    assert "by nobody\nby" not in text

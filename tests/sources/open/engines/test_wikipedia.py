"""Wikipedia's search, and its answers."""

import json

import pytest

from searx_mcp.models.attempt import Verdict
from searx_mcp.models.request import TimeRange
from searx_mcp.sources.open.engine import RefusedError


@pytest.mark.parametrize(
    ("fields", "url"),
    [
        pytest.param(
            {"text": "red panda"},
            "https://en.wikipedia.org/w/api.php?action=query&format=json&formatversion=2"
            "&generator=search&redirects=1&gsrnamespace=0&prop=extracts%7Cinfo%7Cpageimages%7Cdescription"
            "&exintro=1&explaintext=1&exsentences=3&exlimit=max&inprop=url&piprop=thumbnail"
            "&pithumbsize=320&gsrsearch=red%20panda&gsrlimit=10&gsroffset=0",
            id="a question",
        )
    ],
)
def test_a_question_becomes_an_address(ask, engine, fields, url):
    row = engine("wikipedia")
    assert row.url(row.ask(ask(**fields))) == url


@pytest.mark.parametrize(
    ("fields", "part"),
    [
        pytest.param({"page": 3}, "gsroffset=20", id="third page"),
        pytest.param({"language": "de"}, "https://de.wikipedia.org/", id="language"),
        pytest.param({"language": "pt-BR"}, "https://pt.wikipedia.org/", id="region"),
        pytest.param({"language": "all"}, "https://en.wikipedia.org/", id="any language"),
        pytest.param({"text": "C++ & <v>"}, "gsrsearch=C%2B%2B%20%26%20%3Cv%3E", id="signs"),
        pytest.param({"time_range": TimeRange.DAY}, "gsrsearch=red%20panda&", id="no ages"),
        pytest.param(
            {"text": f"{'x' * 148} {'y' * 151} z"},
            f"gsrsearch={'x' * 148}%20{'y' * 151}&",
            id="as long as allowed",
        ),
        pytest.param(
            {"text": f"{'x' * 149} {'y' * 151}"}, f"gsrsearch={'x' * 149}&", id="cut between words"
        ),
    ],
)
def test_what_is_asked_changes_the_address(ask, engine, fields, part):
    row = engine("wikipedia")
    assert part in row.url(row.ask(ask(**fields)))


def test_articles_come_in_the_order_of_their_rank(ask, engine, answer):
    parsed = engine("wikipedia").parse(answer("wikipedia.json"), ask())
    first, second = parsed.hits
    assert (first.title, second.title) == ("Example panda", "Example bear")
    assert first.url == "https://en.wikipedia.org/wiki/Example_panda"
    assert first.description.startswith("The example panda (Ailurus exempli)")
    assert first.thumbnail == "https://upload.wikimedia.org/example-320px.jpg"
    assert first.engines == ("wikipedia",)
    assert (first.position, second.position, parsed.rows_seen, parsed.has_next) == (1, 2, 2, True)


@pytest.mark.parametrize("name", ["wikipedia", "commons"])
@pytest.mark.parametrize(
    ("code", "verdict", "ours"),
    [
        ("ratelimited", Verdict.RATE_LIMITED, False),
        ("maxlag", Verdict.RATE_LIMITED, False),
        ("cirrussearch-too-busy-error", Verdict.RATE_LIMITED, False),
        ("cirrussearch-backend-error", Verdict.SERVER_ERROR, False),
        ("internal_api_error_DBQueryError", Verdict.SERVER_ERROR, False),
        ("cirrussearch-query-too-long", Verdict.REFUSED, True),
        ("badvalue", Verdict.REFUSED, True),
    ],
)
def test_an_error_of_a_wiki_is_a_limit_a_failure_or_about_the_question(
    ask, engine, name, code, verdict, ours
):
    body = json.dumps({"error": {"code": code, "info": "red panda"}}).encode()
    with pytest.raises(RefusedError) as refused:
        engine(name).parse(body, ask())
    assert (refused.value.verdict, refused.value.ours) == (verdict, ours)
    assert "panda" not in refused.value.detail

"""Wikipedia's search, and its answers."""

import json

import pytest

from searx_mcp.models.attempt import Verdict
from searx_mcp.sources.open.engine import RefusedError


def test_articles_come_in_the_order_of_their_rank(read, answer):
    parsed = read("wikipedia", answer("wikipedia.json"))
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
    read, name, code, verdict, ours
):
    body = json.dumps({"error": {"code": code, "info": "red panda"}}).encode()
    with pytest.raises(RefusedError) as refused:
        read(name, body)
    assert (refused.value.verdict, refused.value.ours) == (verdict, ours)
    assert "panda" not in refused.value.detail

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from searx_mcp.sources.searxng.autocomplete import MAX_SUGGESTIONS, parse_suggestions, suggest_url


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        pytest.param('["q", ["a b", "c"], [], [], {}]', ("a b", "c"), id="OpenSearch"),
        pytest.param('["q", []]', (), id="OpenSearch without any"),
        pytest.param(
            '["q", [], [], [], {"google:suggestrelevance": []}]', (), id="as of August 2026"
        ),
        pytest.param('["a b", "c"]', ("a b", "c"), id="plain list"),
        pytest.param("[]", (), id="empty plain list"),
        pytest.param('["a", 5, null, "a", "b", ["c"]]', ("a", "b"), id="mixed and repeated"),
        pytest.param('["q", ["\\u200b", " a \\n b "]]', ("a b",), id="cleaned"),
        pytest.param('["q", ["\\ud800x"]]', ("x",), id="lone surrogate"),
        pytest.param('{"suggestions": ["a"]}', (), id="another shape"),
        pytest.param('"a"', (), id="a text"),
        pytest.param("<html>", (), id="a page"),
        pytest.param("", (), id="nothing"),
        pytest.param("[" * 100_000, (), id="too deep"),
    ],
)
def test_both_forms_of_suggestions_are_read(body: str, expected: tuple[str, ...]) -> None:
    assert parse_suggestions(body.encode()) == expected


def test_suggestions_are_few_and_short() -> None:
    found = parse_suggestions(json.dumps([f"{n} {'x' * 500}" for n in range(99)]).encode())

    assert len(found) == MAX_SUGGESTIONS
    assert all(len(text) == 200 for text in found)


def test_a_body_that_is_too_long_is_not_read() -> None:
    assert parse_suggestions(b" " * 300_000 + b'["a"]') == ()


@given(st.binary(max_size=200))
def test_any_body_gives_suggestions_or_none(body: bytes) -> None:
    assert all(isinstance(text, str) for text in parse_suggestions(body))


def test_the_text_is_neutralised() -> None:
    url = suggest_url("https://a.example/sx/", "!images caf\u00e9")

    assert url == "https://a.example/sx/autocompleter?q=%22%21images%22+caf%C3%A9"

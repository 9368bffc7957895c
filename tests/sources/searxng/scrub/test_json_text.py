import json

import pytest

from searx_mcp.sources.searxng.scrub.json_text import scrub_json
from searx_mcp.sources.searxng.scrub.mask import Mask


def scrubbed(text: str) -> str:
    return scrub_json(text, Mask(query="secret panda", base_url="https://a.example/"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param('{"title": "A secret"}', '{"title": "Word word"}', id="value"),
        pytest.param('{"a secret": 1}', '{"a word": 1}', id="key with the query"),
        pytest.param('{"kvmap": {"Panda": "x"}}', '{"kvmap": {"word": "word"}}', id="facts"),
        pytest.param('{"score": 12.6, "n": -4e10}', '{"score": 11.1, "n": -1e11}', id="numbers"),
        pytest.param("[true, null, NaN, -Infinity]", "[true, null, NaN, -Infinity]", id="words"),
        pytest.param('{"template": "images.html"}', '{"template": "images.html"}', id="template"),
        pytest.param(
            '{"engines": ["bing", "secret wiki"], "x": "bing"}',
            '{"engines": ["bing", "word wiki"], "x": "word"}',
            id="engines",
        ),
        pytest.param(
            '{"unresponsive_engines": [["bing", "Suspended: CAPTCHA"]], "query": "bing"}',
            '{"unresponsive_engines": [["bing", "Suspended: CAPTCHA"]], "query": "word"}',
            id="failed engines",
        ),
        pytest.param(
            '{"url": "https://b.example/secret"}', '{"url": "https://site1.example/1"}', id="url"
        ),
        pytest.param(r'"\u0073ecret \"panda\""', '"word \\"word\\""', id="escapes are read"),
        pytest.param(r'{"x": "\q secret"}', '{"x": "word"}', id="a wrong escape hides nothing"),
        pytest.param('{"x": "cut sec', '{"x": "word word', id="cut in a value"),
        pytest.param('{"engine": "sec', '{"engine": "word', id="cut in a name"),
        pytest.param('{"x": "', '{"x": "', id="cut at its start"),
        pytest.param('{"secr', '{"word', id="cut in a key"),
        pytest.param("]}] secret 007a", "]}] word 111word", id="no JSON at all"),
        pytest.param('{"a":1,"a":2}', '{"a":1,"a":1}', id="repeated keys stay"),
        pytest.param('{"\\ud800x": "\\ud800"}', '{"?x": "word"}', id="lone surrogates"),
        pytest.param('["\\u2022 \\u2003"]', '["• word"]', id="white space of other scripts"),
        pytest.param('{"n": 123456789012345678901}', '{"n": 111111111111111111111}', id="huge"),
        pytest.param('{\n\t"a": 1\n}', '{\n"a": 1\n}', id="white space says nothing"),
    ],
)
def test_values_are_masked_and_the_shape_stays(text: str, expected: str) -> None:
    assert scrubbed(text) == expected


def test_what_could_be_read_can_be_read_again() -> None:
    value = {"results": [{"url": "https://b.example/", "positions": [1, 2], "x": None}] * 3}

    assert (
        json.loads(scrubbed(json.dumps(value)))["results"][0].keys() == value["results"][0].keys()
    )


def test_deep_nesting_is_no_recursion() -> None:
    assert scrubbed("[" * 200_000) == "[" * 200_000

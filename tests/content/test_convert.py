"""Bodies of every kind, and what comes out."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from searx_mcp.content.config import ContentConfig
from searx_mcp.content.convert import Converted, convert
from searx_mcp.errors import ContentError, ErrorCode

URL = "https://ex.org/a"
HTML = (
    "<html lang=en><title>A\u200b title</title><meta name=description content='What\u202e it is'>"
    "<article><h1>Top</h1><p>The otter\u00ad eats fish in the sea. See <a href=b>more</a>.</p></article>"
)
MEDIA_TYPES = [
    *("text/html", "application/xhtml+xml", "text/plain", "text/markdown", "application/json"),
    *("application/ld+json", "application/rss+xml", "text/xml", "text/csv", "application/yaml"),
]


def read(body: str | bytes, media_type: str = "text/html", **settings: Any) -> Converted:
    data = body if isinstance(body, bytes) else body.encode()
    config = ContentConfig(**settings)
    return convert(data, media_type=media_type, charset=None, url=URL, config=config, query="otter")


def test_a_page_becomes_markdown_with_what_is_known_of_it():
    assert read(HTML) == Converted(
        title="A title",
        description="What it is",
        language="en",
        markdown="# Top\n\nThe otter eats fish in the sea. See [more](https://ex.org/b).",
        word_count=10,
        summary="The otter eats fish in the sea.",
        hidden_chars_removed=3,
        notes=(),
    )


def test_the_summary_can_be_switched_off_and_is_bounded():
    assert read(HTML, summarize=False).summary == ""
    long = "<p>" + "The otter eats very many fish in the sea each day. " * 50
    assert len(read(long, max_summary_length=60).summary) <= 60


def test_hidden_characters_cannot_join_what_was_harmless_apart():
    shown = read("<p>!\u200b[x]\u200b(https://evil/b.png) &#x200b;").markdown
    assert shown == "!\\[x]\\(https://evil/b.png)"


@pytest.mark.parametrize(
    "settings", [{"max_html_bytes": 1_024}, {"max_depth": 10}], ids=["too long", "too deep"]
)
def test_what_markdown_fails_on_becomes_plain_text_with_a_note(settings: dict[str, Any]):
    page = "<div>" * 20 + "<p>![one](u)\u200b</p>" + "<p>two words</p>" * 100
    converted = read(page, **settings)
    assert converted.markdown.startswith("!\\[one]\\(u)\ntwo words\n")
    assert converted.hidden_chars_removed == 1
    assert len(converted.notes) == 1
    assert converted.notes[0].startswith("Plain text instead of Markdown")


@pytest.mark.parametrize(
    "page", ["<div id=root></div>", "<script>x</script>", "<img src=x>", "<nav>"]
)
def test_a_page_without_text_is_an_error(page: str):
    with pytest.raises(ContentError) as caught:
        read(page)
    assert caught.value.code is ErrorCode.EXTRACTION_FAILED
    assert caught.value.url == URL


@pytest.mark.parametrize("media_type", MEDIA_TYPES)
def test_an_empty_body_is_an_empty_page(media_type: str):
    assert read(b"", media_type).markdown == ""


def test_a_page_of_code_may_be_empty_without_its_code():
    assert read("<pre>x</pre>", keep_code_blocks=False).markdown == ""


@pytest.mark.parametrize("media_type", ["application/pdf", "image/png", "", "video/\u200bmp4"])
def test_what_is_not_text_is_refused(media_type: str):
    with pytest.raises(ContentError) as caught:
        read(b"%PDF", media_type)
    assert caught.value.code is ErrorCode.UNSUPPORTED_CONTENT_TYPE
    assert caught.value.message.endswith("is not text")
    assert "\u200b" not in caught.value.message


@pytest.mark.parametrize(
    ("media_type", "body", "markdown", "title"),
    [
        ("text/plain", "a\u200b <b>\r\n# c", "a <b>\n# c", ""),
        ("TEXT/Markdown; charset=x", "x\n\n## A\u200b title ##\n", "x\n\n## A title ##", "A title"),
        ("text/csv", "a,b\n1,2\n", "a,b\n1,2", ""),
        ("application/yaml", "a: b", "a: b", ""),
        (
            "application/json",
            '{"b":[1,"\\ud83d é"]}',
            '```json\n{\n  "b": [\n    1,\n    " é"\n  ]\n}\n```',
            "",
        ),
        ("application/problem+json", "[]", "```json\n[]\n```", ""),
        ("application/json", "no json", "```json\nno json\n```", ""),
        ("application/json", "[NaN]", "```json\n[\n  NaN\n]\n```", ""),
        ("application/json", '"```"', '````json\n"```"\n````', ""),
        ("application/atom+xml", "<a>\n</a>\n", "```xml\n<a>\n</a>\n```", ""),
    ],
)
def test_other_text_stays_as_it_is(media_type: str, body: str, markdown: str, title: str):
    converted = read(body, media_type)
    assert (converted.markdown, converted.title) == (markdown, title)


@pytest.mark.parametrize(
    "body",
    [
        pytest.param("[" * 100_000, id="deep"),
        pytest.param("[" * 500 + "]" * 500, id="deep and valid"),
        pytest.param("1" * 5_000, id="huge integer"),
        pytest.param(json.dumps(["x" * 210_000]), id="long"),
    ],
)
def test_json_that_is_no_good_to_print_stays_as_it_came(body: str):
    assert read(body, "application/json").markdown == f"```json\n{body}\n```"


HOSTILE = {
    "nested elements": "<div>" * 5_000 + "x",
    "nested lists": "<ul><li>" * 1_000 + "x",
    "nested tables": "<table><tr><td>" * 500 + "x",
    "nested quotes": "<blockquote>" * 1_000 + "x",
    "misnested formatting": "<a><b><i>" * 1_000 + "x",
    "fonts and paragraphs": "<font><p>x" * 1_000,
    "formatting with ids": "".join(f"<div><b id={number}>x</div>" for number in range(500)),
    "attributes": "<p " + " ".join(f"a{number}=1" for number in range(5_000)) + ">x",
    "ampersands": "&" * 20_000,
    "less-than signs": "<" * 20_000,
    "tags without an end": "<a" * 20_000,
    "comments without an end": "x" + "<!--" * 5_000,
    "quotes without an end": "x" + "<a b='" * 5_000,
    "no spaces": "x" * 100_000,
    "spaces only": "x" + " " * 100_000,
    "stars": "*" * 20_000,
    "stops": "!" * 20_000,
    "brackets": "[" * 20_000,
    "images in text": "![x](" * 5_000,
    "NULs": "a\0<di\0v>" * 1_000,
    "column spans": "<table><tr>" + "<td colspan=1000>x" * 500,
    "huge spans": "<table><tr><td colspan=" + "9" * 5_000 + ">x",
    "huge start": "<ol start=" + "9" * 5_000 + "><li>x",
    "breaks in code": "<pre>" + "x<br>" * 2_000,
    "names of converter methods": "<soup>x</soup><fn_cache>y</fn_cache><h99999>z",
    "huge heading": "<h" + "9" * 5_000 + ">x",
    "foreign content": "<math><mtext><table><mglyph><style><img src=x onerror=y>z",
    "base of nothing": "<base href='http://['><a href='http://['>x</a>",
}


@pytest.mark.parametrize("page", HOSTILE.values(), ids=HOSTILE)
def test_hostile_pages_become_text_or_a_content_error(page: str):
    try:
        converted = read(page)
    except ContentError:
        assert "x" not in page[:1]
        return
    converted.markdown.encode()
    assert len(converted.markdown) < 10 * len(page) + 1_000
    assert "onerror" not in converted.markdown


@pytest.mark.parametrize("media_type", MEDIA_TYPES)
@given(
    body=st.binary(max_size=300)
    | st.text(alphabet="<>/!-=\"' abdivprtl[]{}()#*`&;:,\\\0é\n", max_size=300).map(str.encode)
)
def test_random_bytes_never_raise_anything_else(media_type: str, body: bytes):
    try:
        converted = convert(
            body, media_type=media_type, charset=None, url=URL, config=ContentConfig(), query="a"
        )
    except ContentError:
        return
    (converted.title + converted.markdown + converted.summary).encode()
    assert converted.hidden_chars_removed >= 0


def test_captured_pages_are_read(captured_pages: list[Path]):
    for path in captured_pages:
        assert read(path.read_bytes()).word_count


def test_a_failure_of_the_parser_is_a_content_error(monkeypatch: pytest.MonkeyPatch):
    def fail(*_: object, **__: object) -> None:
        raise ValueError

    monkeypatch.setattr("searx_mcp.content.convert.main_content", fail)
    with pytest.raises(ContentError, match="could not be parsed") as caught:
        read(HTML)
    assert caught.value.code is ErrorCode.EXTRACTION_FAILED

"""A body read as a job: JSON in, JSON out, and plain text where there is nothing better."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from searx_mcp.content.config import ContentConfig
from searx_mcp.content.convert import convert, page_job, text_job
from searx_mcp.content.document import Document, from_frame, options_for
from searx_mcp.content.html.stripping import stripped, title_of
from searx_mcp.errors import ContentError, ErrorCode, SkeletonError

URL = "https://bees.example/dance"
PAGE = (
    b"<html lang=en><title>Bees &amp; flowers</title><meta name=author content='Ann Smith'>"
    b"<article><h1 id=top>Bees</h1><p>They <b>dance</b> for <a href=/others>the others</a>.</p>"
    b"<pre><code class=language-python>print()</code></pre><img src=/bee.png alt=bee></article>"
)


def options_of(media_type="text/html", charset=None, **config):
    return options_for(
        media_type=media_type, charset=charset, url=URL, config=ContentConfig(**config)
    )


def there_and_back(result):
    return json.loads(json.dumps(dict(result), ensure_ascii=False).encode())


@pytest.mark.parametrize(
    ("body", "media_type"),
    [
        pytest.param(PAGE, "text/html", id="a page"),
        pytest.param(b'{"a": [1, "\xc3\xa9"]}', "application/json", id="data"),
        pytest.param(b"# Bees\n\nThey [dance](/d).", "text/markdown", id="Markdown"),
        pytest.param("Straße 名前".encode(), "text/plain", id="plain text"),
        pytest.param(
            b"<rss><channel><title>News</title><item><title>One</title></item></channel></rss>",
            "application/rss+xml",
            id="a feed",
        ),
    ],
)
def test_nothing_of_a_page_is_lost_on_its_way(body, media_type):
    expected = convert(body, media_type=media_type, charset=None, url=URL, config=ContentConfig())
    options = there_and_back(options_of(media_type))
    found = from_frame(there_and_back(page_job(body, options)))
    assert found == expected
    for name in Document.model_fields:
        assert type(getattr(found, name)) is type(getattr(expected, name))


def test_settings_reach_the_converter():
    assert "```" in page_job(PAGE, options_of())["markdown"]
    assert "```" not in page_job(PAGE, options_of(keep_code_blocks=False))["markdown"]


def test_a_header_names_the_encoding():
    assert (
        page_job("日本".encode("cp932"), options_of("text/plain", "shift_jis"))["markdown"]
        == "日本"
    )


def test_a_page_that_needs_its_scripts_is_told_apart():
    with pytest.raises(SkeletonError):
        page_job(b"<div id=root></div><script>" + b"x();" * 999 + b"</script>", options_of())


def test_a_library_that_gives_up_is_not_a_word_on_the_page(monkeypatch):
    def read_page(*_arguments, **_options):
        raise RuntimeError("no memory")

    monkeypatch.setattr(f"{convert.__module__}.read_page", read_page)
    with pytest.raises(ContentError):
        convert(PAGE, media_type="text/html", charset=None, url=URL, config=ContentConfig())
    with pytest.raises(RuntimeError):
        page_job(PAGE, options_of())


@pytest.mark.parametrize(
    "change",
    [
        pytest.param({"markdown": None}, id="no text"),
        pytest.param({"markdown": ["x"]}, id="a list for a text"),
        pytest.param({"outline": [{"level": 1}]}, id="half a heading"),
        pytest.param({"outline": [{"level": 1, "title": "", "offset": 0, "is_x": 1}]}, id="more"),
        pytest.param({"images": "https://a.example/"}, id="a text for a list"),
        pytest.param({"word_count": "many"}, id="no number"),
        pytest.param({"kind": "no such kind"}, id="an unknown kind"),
        pytest.param({"further": ""}, id="an unknown field"),
    ],
)
def test_what_is_no_page_is_not_read_back(change):
    result = there_and_back(page_job(PAGE, options_of()))
    assert from_frame(result).title == "Bees & flowers"
    with pytest.raises(ValueError, match=r"validation error|fields"):
        from_frame({**result, **change})


@pytest.mark.parametrize("name", sorted(page_job(PAGE, options_of())))
def test_every_field_must_be_there(name):
    result = there_and_back(page_job(PAGE, options_of()))
    del result[name]
    with pytest.raises(ValueError, match="fields"):
        from_frame(result)


def test_plain_text_has_the_words_and_a_note():
    found = from_frame(there_and_back(text_job(PAGE, options_of())))
    assert found.markdown == "Bees\n\nThey dance for the others.\n\nprint\\(\\)".replace("\\", "")
    assert found.title == "Bees & flowers"
    assert found.word_count == 7
    assert any("Plain text" in note for note in found.notes)
    assert not found.outline


@pytest.mark.parametrize("body", [b"", b"<p></p>", b"<script>x()</script>", b"<!-- x"])
def test_plain_text_without_a_word_is_no_page(body):
    with pytest.raises(ContentError) as caught:
        text_job(body, options_of())
    assert caught.value.code is ErrorCode.EXTRACTION_FAILED


@pytest.mark.parametrize(
    "smuggled",
    [
        "![x](https://evil.example/b.png)",
        "&lt;img src=https://evil.example/b.png&gt;",
        "[x](javascript:alert(1))",
        "!&#91;x](https://evil.example/b.png)",
        "!<b>[</b>x](https://evil.example/b.png)",
        "!\u200b[x](https://evil.example/b.png)",
        "# no heading",
        "```<br>code",
        "- no item",
    ],
)
def test_plain_text_holds_no_markup(smuggled):
    page = f"<p>Bees</p><p>{smuggled}</p>"
    markdown = text_job(page.encode(), options_of())["markdown"]
    tokens = MarkdownIt("commonmark", {"html": True}).enable("table").parse(markdown)
    kinds = {token.type for token in tokens}
    kinds |= {child.type for token in tokens for child in token.children or ()}
    assert kinds <= {"paragraph_open", "paragraph_close", "inline", "text", "text_special"}


def test_a_long_page_is_cut_with_a_note():
    found = text_job(b"<p>bee</p>" * 300_000, options_of())
    assert len(found["markdown"]) == 999_998
    assert any("first 2,000,000" in note for note in found["notes"])


@pytest.mark.parametrize(
    ("html", "text"),
    [
        pytest.param("a<b>b</b>c<p>d", "abc\n\nd", id="inline and block"),
        pytest.param("<td>a</td><td>b</td>", "a b", id="cells"),
        pytest.param("a\n b\t c", "a b c", id="whitespace"),
        pytest.param("<style>p{}</style>a<SCRIPT>b</Script >c", "ac", id="what is not read"),
        pytest.param("a<script>b", "a", id="a script without an end"),
        pytest.param("a<!-- b --> c<!doctype x><?php d ?>", "a c", id="comments"),
        pytest.param("a<!-- b", "a", id="a comment without an end"),
        pytest.param("<p>x</p><a href='y", "x", id="a tag without an end"),
        pytest.param("<![CDATA[<p>a</p>]]>", "a", id="CDATA"),
        pytest.param("&lt;b&gt; &eacute; &#65; &#x41;", "<b> é A A", id="references"),
        pytest.param(f"&#{'9' * 5_000};&#x{'f' * 5_000};a", "\ufffd\ufffda", id="long references"),
        pytest.param("1 < 2 and 3 > 2", "1 < 2 and 3 > 2", id="signs that are no tags"),
        pytest.param("<svg><text>a</text></svg><math>b</math>", "a\n\nb", id="other languages"),
    ],
)
def test_tags_are_stripped(html, text):
    assert stripped(html) == text


@pytest.mark.parametrize(
    ("html", "title"),
    [
        ("<title>a &amp;\n b</title>", "a & b"),
        ("<TITLE lang=en>a<title>b", "a"),
        ("<titled>a", ""),
        ("<title>", ""),
    ],
)
def test_the_first_title_is_the_title(html, title):
    assert title_of(html) == title


@given(st.text(alphabet="<>/!-=\"'& apbscript;#9\0\n", max_size=200))
def test_stripping_gives_text_of_any_page(page):
    text = stripped(page)
    assert len(text) <= 3 * len(page)
    assert text == text.strip()

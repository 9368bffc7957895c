"""Bodies of every media type as documents."""

import json
from pathlib import Path
from typing import Any

import pytest
from markdown_it import MarkdownIt

from searx_mcp.content.config import ContentConfig
from searx_mcp.content.convert import convert, page_job, text_job
from searx_mcp.content.document import Document, from_frame, options_for
from searx_mcp.content.html.guards import MAX_TAGS
from searx_mcp.errors import ContentError, ErrorCode, SkeletonError
from searx_mcp.models.page import Heading, PageImage, PageKind, PageLink

URL = "https://ex.org/a"
HTML = (
    "<html lang=en><title>A\u200b title</title><meta name=description content='What\u202e it is'>"
    "<meta name=author content='Ann\u200d B'><meta property='article:published_time' content=2024/1/2>"
    '<script type="application/ld+json">{"@type": "NewsArticle"}</script>'
    "<article><h1 id=top>Top</h1><p>The otter\u00ad eats fish in the sea. See <a href=b>more</a>. "
    "<img src=/i.png alt=pic></p></article>"
)
MEDIA_TYPES = [
    *("text/html", "application/xhtml+xml", "text/plain", "text/markdown", "application/json"),
    *("application/ld+json", "application/rss+xml", "text/xml", "text/csv", "application/yaml"),
]


def read(
    body: str | bytes, media_type: str = "text/html", charset: str | None = None, **settings: Any
) -> Document:
    data = body if isinstance(body, bytes) else body.encode()
    config = ContentConfig(**settings)
    return convert(data, media_type=media_type, charset=charset, url=URL, config=config)


def test_a_page_becomes_markdown_with_what_is_known_of_it():
    assert read(HTML) == Document(
        title="A title",
        description="What it is",
        author="Ann B",
        published="2024-01-02",
        modified="",
        language="en",
        site="",
        canonical_url="",
        kind=PageKind.ARTICLE,
        sources={
            "title": "title",
            "description": "description",
            "author": "author",
            "published": "article:published_time",
            "language": "html lang",
        },
        markdown="# Top\n\nThe otter eats fish in the sea. See [more](https://ex.org/b). [image: pic]",
        word_count=12,
        outline=(Heading(level=1, title="Top", offset=0, anchor="top"),),
        images=(PageImage(url="https://ex.org/i.png", alt="pic"),),
        links=(
            PageLink(
                url="https://ex.org/b",
                text="more",
                context="The otter eats fish in the sea. See more. [image: pic]",
            ),
        ),
        code_blocks=(),
        hidden_chars_removed=4,
        removed=read(HTML).removed,
        notes=(),
        is_skeleton=False,
        is_protected=False,
    )


def test_headings_carry_the_anchors_of_the_page():
    page = "<h1>One</h1><p>x</p><section id=s><h2>Two</h2><pre># no\n</pre><h2 id=t>T<i>w</i>o</h2></section>"
    markdown = read(page).markdown
    assert [
        (heading.level, heading.anchor, markdown[heading.offset :][:5])
        for heading in read(page).outline
    ] == [(1, "", "# One"), (2, "s", "## Tw"), (2, "t", "## T*")]


@pytest.mark.parametrize(
    "page", ["<div id=root></div>", "<script>x", "<img src=x>", "<nav>", "<p> "]
)
def test_a_page_without_text_is_an_error(page: str):
    with pytest.raises(ContentError) as caught:
        read(page)
    assert (caught.value.code, caught.value.url) == (ErrorCode.EXTRACTION_FAILED, URL)
    assert not isinstance(caught.value, SkeletonError)


SHELL = "<div id=root>{}</div><script type=module src=/m.js></script>"
RUSSIAN = "<p>Быстрая лиса перепрыгнула через собаку".encode("cp1251")
TOO_MUCH_STYLE = (
    f"<style>{' ' * 2_000_000}.h{{display:none}}</style><p class=h>Hidden.<p>{'Seen. ' * 99}"
)
HIDDEN = "<style>main{opacity:0}</style><main>" + "<p>All the text of it. " * 20 + "</main>"
LARGE = "<div>" * 20 + "<p>![one](u)\u200b</p>" + "<p>two words</p>" * 100
FEED = "<rss><channel>" + "<item><title>x</title></item>" * 150 + "</channel></rss>"
TAGS = "<p>first</p>" + "</i>" * MAX_TAGS + "<p>last</p>"
LOCKED = "<meta property='article:content_tier' content=locked><p>The beginning."


@pytest.mark.parametrize(
    ("body", "how", "begins", "note"),
    [
        pytest.param(
            SHELL.format("Loading"), {}, "Loading", "The page needs its scripts to show its text; this is what",
            id="scripts",
        ),
        pytest.param(LOCKED, {}, "The beginning.", "content protected", id="a wall"),
        pytest.param(RUSSIAN, {"charset": "utf-8"}, "", "Some of the text is unreadable", id="another encoding"),
        pytest.param(HIDDEN, {}, "All the text of it.", "The page's CSS hides", id="hidden by its style"),
        pytest.param(TOO_MUCH_STYLE, {}, "Hidden.", "", id="too much style"),
        pytest.param(
            TAGS, {}, "first", f"Only the first {MAX_TAGS:,} tags of the page were read.",
            id="too many tags",
        ),
        pytest.param(
            LARGE, {"max_page_chars": 1_024}, "!\\[one]\\(u)\n\ntwo words\n",
            "Plain text instead of Markdown: the page is too large", id="too large",
        ),
        pytest.param(
            FEED, {"media_type": "text/xml"}, "# Feed", "The feed has 150 entries; the first 100 are listed.", id="long feed"
        ),
        pytest.param(
            '"' + "x" * 2_500_000 + '"', {"media_type": "application/json"}, '```json\n"x',
            "Only the first 2,000,000 characters are shown.", id="long data",
        ),
    ],
)  # fmt: skip
def test_what_is_not_all_of_a_page_says_so(body, how, begins: str, note: str):
    converted = read(body, **how)
    assert converted.markdown.startswith(begins)
    (said,) = converted.notes
    assert note in said


@pytest.mark.parametrize(
    ("body", "how"),
    [
        pytest.param("<p>first</p>", {}, id="few tags"),
        pytest.param(TOO_MUCH_STYLE.replace(" " * 2_000_000, " "), {}, id="a little style"),
        pytest.param(RUSSIAN, {"charset": "cp1251"}, id="the right encoding"),
    ],
)
def test_a_whole_page_says_nothing(body, how):
    assert read(body, **how).notes == ()


@pytest.mark.parametrize(
    ("body", "how", "told"),
    [
        pytest.param(SHELL.format("Loading"), {}, {"is_skeleton": True}, id="scripts"),
        pytest.param(LOCKED, {}, {"is_protected": True}, id="a wall"),
        pytest.param(LARGE, {"max_page_chars": 1_024}, {"hidden_chars_removed": 1}, id="hidden characters"),
        pytest.param(
            f"<title>{'x' * 400}</title><meta name=author content='{'a' * 400}\u202e'><p>x", {},
            {"title": f"{'x' * 299}…", "author": f"{'a' * 299}…", "hidden_chars_removed": 1}, id="long metadata",
        ),
        pytest.param(
            "<p>!\u200b[x]\u200b(https://evil/b.png) &#x200b;", {},
            {"markdown": "!\\[x]\\(https://evil/b.png)"}, id="hidden characters join nothing",
        ),
        pytest.param("<pre>x</pre>", {"keep_code_blocks": False}, {"markdown": ""}, id="code that is not wanted"),
        pytest.param(
            "日本".encode("cp932"), {"media_type": "text/plain", "charset": "shift_jis"}, {"markdown": "日本"},
            id="the encoding of the header",
        ),
        pytest.param(
            json.dumps({"version": "https://jsonfeed.org/version/1", "items": [{"url": "/1", "title": "One"}]}),
            {"media_type": "application/feed+json"}, {"markdown": "# Feed\n\n- [One](https://ex.org/1)"}, id="a feed of JSON",
        ),
    ],
)  # fmt: skip
def test_a_page_is_told_with(body, how, told):
    assert read(body, **how).model_dump(include={*told}) == told


@pytest.mark.parametrize(
    "page", [SHELL.format(""), "<div id=root></div><script>" + "x();" * 999 + "</script>"]
)
def test_a_page_that_is_empty_without_its_scripts_is_an_error_of_its_own(page: str):
    with pytest.raises(SkeletonError) as caught:
        read(page)
    assert caught.value.code is ErrorCode.EXTRACTION_FAILED


@pytest.mark.parametrize("media_type", MEDIA_TYPES)
def test_an_empty_body_is_an_empty_page(media_type: str):
    assert read(b"", media_type).markdown == ""


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
            '```json\n{"b": [1, " é"]}\n```',
            "",
        ),
        ("application/problem+json", "[]", "```json\n[]\n```", ""),
        ("application/json", "no json", "```json\nno json\n```", ""),
        ("application/json", "[NaN]", "```json\n[NaN]\n```", ""),
        ("application/json", '"```"', '````json\n"```"\n````', ""),
        ("application/atom+xml", "<a>\n</a>\n", "```xml\n<a>\n</a>\n```", ""),
        ("application/xml", "<html xmlns='x'><h1>T</h1></html>", "# T", "T"),
        ("application/x-ndjson", '{"a":1}\n{"b":2}\n', '{"a":1}\n{"b":2}', ""),
        ("text/markdown", "![a](https://evil/b.png) [x](javascript:y)\n", "[image: a] [x]", ""),
        ("text/plain", "![a](https://e.org/b.png)", "!\\[a](https://e.org/b.png)", ""),
    ],
)
def test_other_text_stays_as_it_is(media_type: str, body: str, markdown: str, title: str):
    converted = read(body, media_type)
    assert (converted.markdown, converted.title, converted.notes) == (markdown, title, ())


@pytest.mark.parametrize(
    "media_type", ["text/xml", "application/xml", "text/html", "application/rss+xml"]
)
def test_a_feed_is_a_list_by_its_root_element(media_type: str):
    body = (
        "<?xml version='1.0'?><rss><channel><title>T &amp;amp; U</title><link>/</link><language>en</language>"
        "<pubDate>Tue, 02 Jan 2024 03:04:05 GMT</pubDate><item><title>One\u200b</title><link>/1</link></item>"
        "</channel></rss>"
    )
    converted = read(body, media_type)
    assert converted.markdown.endswith("\n\n- [One](https://ex.org/1)")
    assert (converted.title, converted.language, converted.modified) == (
        *("T & U", "en"),
        "2024-01-02T03:04:05+00:00",
    )
    assert [link.url for link in converted.links] == ["https://ex.org/", "https://ex.org/1"]
    assert [heading.title for heading in converted.outline] == ["T & U"]


def test_only_markdown_and_pages_have_an_outline():
    text = "# A\n\nhttps://e.org/x and [r](y.md)\n"
    assert read(text, "text/plain").outline == ()
    assert read(text, "text/plain").links == (PageLink(url="https://e.org/x"),)
    assert [heading.title for heading in read(text, "text/markdown").outline] == ["A"]
    links = read(text, "text/markdown").links
    assert [link.url for link in links] == ["https://e.org/x", "https://ex.org/y.md"]


def test_captured_pages_are_read(captured_pages: list[Path]):
    for path in captured_pages:
        assert read(path.read_bytes()).word_count


BEES = "https://bees.example/dance"
PAGE = (
    b"<html lang=en><title>Bees &amp; flowers</title><meta name=author content='Ann Smith'>"
    b"<article><h1 id=top>Bees</h1><p>They <b>dance</b> for <a href=/others>the others</a>.</p>"
    b"<pre><code class=language-python>print()</code></pre><img src=/bee.png alt=bee></article>"
)


def options_of(media_type="text/html", charset=None, **config):
    return options_for(
        media_type=media_type, charset=charset, url=BEES, config=ContentConfig(**config)
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
    expected = convert(body, media_type=media_type, charset=None, url=BEES, config=ContentConfig())
    options = there_and_back(options_of(media_type))
    found = from_frame(there_and_back(page_job(body, options)))
    assert found == expected
    for name in Document.model_fields:
        assert type(getattr(found, name)) is type(getattr(expected, name))


def test_a_library_that_gives_up_is_not_a_word_on_the_page(monkeypatch):
    def read_page(*_arguments, **_options):
        raise RuntimeError("no memory")

    monkeypatch.setattr(f"{convert.__module__}.read_page", read_page)
    with pytest.raises(ContentError, match="could not be parsed") as caught:
        read(PAGE)
    assert caught.value.code is ErrorCode.EXTRACTION_FAILED
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
    assert (found.title, found.word_count) == ("Bees & flowers", 7)
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
    found = text_job(b"<p>bee</p>" * 201_000, options_of())
    assert len(found["markdown"]) == 999_998
    assert any("first 2,000,000" in note for note in found["notes"])

"""What a page says of itself, and where it is looked for."""

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from searx_mcp.content.html.metadata import LinkedData, Metadata, linked_data, metadata

URL = "https://ex.org/a/b.html"


def read(html: str) -> Metadata:
    return metadata(LexborHTMLParser(html), url=URL)


def linked(**node: object) -> str:
    return f'<script type="application/ld+json">{json.dumps(node)}</script>'


@pytest.mark.parametrize(
    ("html", "title"),
    [
        pytest.param(
            '<title>T</title><meta property="og:title" content=" O\n g "><h1>H</h1>', "O g", id="og"
        ),
        pytest.param("<title>T &amp; x</title><h1>H</h1>", "T & x", id="title"),
        pytest.param("<title> </title><h1>H <b>b</b></h1>", "H b", id="heading"),
        pytest.param(
            "<h1>H</h1>" + linked(**{"@type": "NewsArticle", "headline": "L &amp; x"}),
            "L & x",
            id="linked data",
        ),
        pytest.param("<header><h1>H</h1></header><p>x", "H", id="in a header"),
        pytest.param("<p>x", "", id="none"),
    ],
)
def test_the_title_is_the_first_that_says_something(html: str, title: str):
    assert read(html).title == title


@pytest.mark.parametrize(
    ("html", "description"),
    [
        ('<meta name=Description content="d"><meta property=og:description content=o>', "d"),
        ('<meta name=description content=""><meta property="og:description" content=o>', "o"),
        ("<meta name=description>", ""),
        (linked(**{"@type": "Article", "description": "l"}), "l"),
    ],
)
def test_the_description_is_the_pages_own(html: str, description: str):
    assert read(html).description == description


@pytest.mark.parametrize(
    ("html", "author"),
    [
        ("<meta name=author content='A B'>", "A B"),
        ("<meta name=citation_author content=A><meta name=citation_author content=B>", "A, B"),
        ('<meta property="dc:creator x:y" content=A>', "A"),
        ('<meta property="article:author" content="https://social.example/a">', ""),
        ('<a rel=author href="/a">A  B</a>', "A B"),
        ("<p itemprop=author><span itemprop=name>A</span>, writer</p>", "A"),
        ("".join(f"<a rel=author>{name}</a>" for name in "ABCD"), ""),
        (f"<a rel=author>{'x' * 200}</a>", ""),
        (
            linked(**{"@type": "Article", "author": {"name": "L"}})
            + "<meta name=author content=A>",
            "L",
        ),
        ("", ""),
    ],
)
def test_the_author_is_named_by_the_page(html: str, author: str):
    assert read(html).author == author


@pytest.mark.parametrize(
    ("html", "published", "modified"),
    [
        (
            '<meta property="article:published_time" content=2024-01-02><meta property="article:modified_time" content=2024-02-03>',
            "2024-01-02",
            "2024-02-03",
        ),
        ('<meta name="DC.date.issued" content=2024>', "2024", ""),
        ("<meta itemprop=datePublished content=2024-01-02>", "2024-01-02", ""),
        ("<time itemprop=dateModified datetime=2024-01-02>today</time>", "", "2024-01-02"),
        ("<article><time datetime=2024-01-02>x</time><p>y</article>", "2024-01-02", ""),
        ("<article><time datetime=2024-01-02></article><article>z</article>", "", ""),
        ("<time class=published>5 January 2024</time>", "5 January 2024", ""),
        ("<time class=published>12:55</time>", "", ""),
        ('<meta property="og:updated_time" content=1700000000>', "", "1700000000"),
        (linked(**{"@type": "Article", "datePublished": "2024-01-02"}), "2024-01-02", ""),
    ],
)
def test_dates_are_taken_as_they_are_written(html: str, published: str, modified: str):
    said = read(html)
    assert (said.published, said.modified) == (published, modified)


@pytest.mark.parametrize(
    ("html", "language"),
    [
        ("<html lang=de-AT>", "de-AT"),
        ("<html lang=' en '>", "en"),
        ("<html lang='{{lang}}'>", ""),
        ("<html lang=''><meta property=og:locale content=pt_BR>", "pt-BR"),
        ("<meta http-equiv=content-language content='fr, en'>", "fr"),
        (linked(**{"@type": "Article", "inLanguage": "it"}), "it"),
        ("", ""),
    ],
)
def test_the_language_is_a_tag_or_nothing(html: str, language: str):
    assert read(html).language == language


@pytest.mark.parametrize(
    ("html", "is_protected"),
    [
        (linked(**{"@type": "NewsArticle", "isAccessibleForFree": False}), True),
        (linked(**{"@type": "NewsArticle", "isAccessibleForFree": "False"}), True),
        (
            linked(**{"@type": "NewsArticle", "isAccessibleForFree": "http://schema.org/False"}),
            True,
        ),
        (linked(**{"@type": "NewsArticle", "isAccessibleForFree": True}), False),
        (
            linked(
                **{
                    "@type": "NewsArticle",
                    "hasPart": {"isAccessibleForFree": False, "cssSelector": ".paywall"},
                }
            ),
            True,
        ),
        ('<meta property="article:content_tier" content=locked>', True),
        ('<meta property="article:content_tier" content=metered>', False),
        ("<meta itemprop=isAccessibleForFree content=false>", True),
        ("<p>", False),
    ],
)
def test_a_page_that_is_not_free_to_read_says_so(html: str, *, is_protected: bool):
    assert read(html).is_protected is is_protected


def test_the_canonical_address_tells_which_of_several_articles_the_page_is():
    other = {"@type": "Article", "headline": "Other", "url": "https://ex.org/other"}
    own = {"@type": "Article", "headline": "Own", "mainEntityOfPage": "https://ex.org/own/"}
    both = '<link rel=canonical href="/own">' + linked(**{"@graph": [other, own]})
    assert read(both).title == "Own"
    assert read(linked(**{"@graph": [other, own]})).title == ""


@pytest.mark.parametrize(
    ("html", "field", "value", "source"),
    [
        ('<meta property="og:title" content=O><title>T</title>', "title", "O", "og:title"),
        ("<title>T</title>", "title", "T", "title"),
        (linked(**{"@type": "Article", "headline": "L"}), "title", "L", "json-ld"),
        ("<h1>H</h1>", "title", "H", "h1"),
        ("<meta name=description content=d>", "description", "d", "description"),
        (linked(**{"@type": "Article", "author": "A"}), "author", "A", "json-ld"),
        ("<meta name=byl content=B>", "author", "B", "byl"),
        ("<a rel=author>R</a>", "author", "R", '[rel="author"]'),
        ('<meta property="article:published_time" content=2024>', "published", "2024", "article:published_time"),
        ("<time pubdate>2024-01-02</time>", "published", "2024-01-02", "time[pubdate]"),
        ("<article><time datetime=2024>x</time></article>", "published", "2024", "time"),
        ('<meta property="og:updated_time" content=2025>', "modified", "2025", "og:updated_time"),
        ("<html lang=de>", "language", "de", "html lang"),
        ('<meta property="og:locale" content=pt_BR>', "language", "pt-BR", "og:locale"),
        ("<meta http-equiv=content-language content='fr, en'>", "language", "fr", "content-language"),
        ('<meta property="og:site_name" content=S>', "site", "S", "og:site_name"),
        (linked(**{"@type": "WebSite", "name": "W"}), "site", "W", "json-ld"),
        ("<meta name=application-name content=N>", "site", "N", "application-name"),
        ("<link rel=canonical href='/c'>", "canonical_url", "https://ex.org/c", "link"),
        ("<meta property=og:url content='/o'>", "canonical_url", "https://ex.org/o", "og:url"),
    ],
)  # fmt: skip
def test_what_is_said_has_its_source(html: str, field: str, value: str, source: str):
    said = read(html)
    assert getattr(said, field) == value
    assert said.sources[field] == source


def test_what_is_not_said_has_no_source():
    assert read("<p>x").sources == {}


def test_an_address_that_leads_nowhere_is_not_canonical():
    assert read("<link rel=canonical href='javascript:x'>").canonical_url == ""


def test_the_types_of_a_page_are_those_of_its_data_its_markup_and_open_graph():
    html = (
        linked(**{"@type": "NewsArticle"})
        + '<div itemscope itemtype="https://schema.org/Product http://schema.org/Thing/">x</div>'
        + '<meta property="og:type" content="Article">'
    )
    assert read(html).types == {"NewsArticle", "Product", "Thing", "article"}


ARTICLE = {"@type": "Article", "headline": "H"}
PAGE = frozenset({"https://ex.org/a"})


def read_blocks(*blocks: Any) -> LinkedData:
    texts = (block if isinstance(block, str) else json.dumps(block) for block in blocks)
    return linked_data(texts, addresses=PAGE)


@pytest.mark.parametrize(
    "block",
    [
        ARTICLE,
        [ARTICLE],
        {"@graph": [{"@type": "Organization", "name": "O"}, ARTICLE]},
        {"@type": "WebPage", "mainEntity": ARTICLE},
        {"@type": ["Thing", "https://schema.org/BlogPosting"], "name": "H"},
        {"@type": "Product", "name": "H"},
        {"@type": "Article", "headline": ["", "H"]},
        f"{json.dumps(ARTICLE)};",
        '{"@type": "Article", "headline": "H", "articleBody": "a\nb"}',
    ],
)
def test_an_article_is_found_wherever_it_stands(block: Any):
    assert read_blocks(block).title == "H"


@pytest.mark.parametrize(
    "block",
    [
        "",
        "{",
        "null",
        "[[[]]]",
        "[" * 100_000,
        '{"a":' * 100_000,
        "1" * 5_000,
        '{"@type": "Article", "headline": ' + '"x"' * 100_000,
        {"@type": "Organization", "name": "O"},
        {"@type": "BreadcrumbList", "name": "O"},
        {"@type": {}, "headline": "H"},
        {"@type": "Article", "headline": 5},
        [ARTICLE, {"@type": "Article", "headline": "Another"}],
        {"@type": "Article", "headline": "H", "articleBody": "x" * 200_000},
    ],
)
def test_what_says_nothing_of_the_page_is_passed_over(block: Any):
    assert replace(read_blocks(block), types=frozenset()) == LinkedData()


def test_a_broken_block_does_not_hide_the_next_one_and_only_so_many_are_read():
    assert (read_blocks("{", ARTICLE).title, read_blocks(*["{"] * 20, ARTICLE).title) == ("H", "")


@pytest.mark.parametrize(
    ("author", "names"),
    [
        ("A", "A"),
        ({"name": "A"}, "A"),
        ([{"name": "A"}, "B", {"name": "A"}, {"url": "x"}], "A, B"),
        ({"@id": "#a"}, "Found"),
        ({"name": ["A", "B"]}, "A"),
        ("https://social.example/a", ""),
        (7, ""),
    ],
)
def test_authors_are_named_by_reference_too(author: Any, names: str):
    person = {"@type": "Person", "@id": "#a", "name": "Found"}
    assert read_blocks({"@graph": [{**ARTICLE, "author": author}, person]}).author == names


def test_the_article_of_the_page_comes_first_and_the_page_fills_its_gaps():
    own = {"@type": "Article", "@id": "https://ex.org/a/#article", "headline": "Own"}
    other = {"@type": "Article", "headline": "Other", "datePublished": "2001"}
    page = {"@type": "WebPage", "url": "https://ex.org/a/", "name": "P", "dateModified": "2024"}
    found = read_blocks([other, page, own])
    assert (found.title, found.published, found.modified) == ("Own", "", "2024")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    *("@type", "@id", "@graph", "name", "author", "url", "hasPart", "cssSelector"),
                    *("isAccessibleForFree", "mainEntityOfPage", "inLanguage", "datePublished"),
                ]
            ),
            inner | st.just("Article"),
            max_size=5,
        )
    ),
    max_leaves=12,
)


@given(JSON)
def test_any_json_can_be_read(value: Any):
    found = read_blocks(value)
    assert isinstance(found.title + found.author + found.language, str)


def test_what_is_described_is_told_by_its_types():
    graph = {"@graph": [ARTICLE, {"@type": ["WebSite", "https://schema.org/Thing"]}]}
    assert read_blocks(graph).types == {"Article", "WebSite", "Thing"}


@pytest.mark.parametrize(
    ("block", "site"),
    [
        ([{"@type": "WebSite", "name": "Bees"}, ARTICLE | {"publisher": {"name": "P"}}], "Bees"),
        (ARTICLE | {"publisher": {"name": "P"}}, "P"),
        ({"@graph": [ARTICLE | {"publisher": {"@id": "#o"}}, {"@id": "#o", "name": "O"}]}, "O"),
        (ARTICLE, ""),
    ],
)
def test_the_site_is_the_one_that_says_so_or_who_published_the_page(block: Any, site: str):
    assert read_blocks(block).site == site

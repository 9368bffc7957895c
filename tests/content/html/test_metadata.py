"""A page's metadata, and where each value comes from."""

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from searx_mcp.content.html.metadata import Metadata, metadata

URL = "https://ex.org/a/b.html"


def read(html: str) -> Metadata:
    return metadata(LexborHTMLParser(html), url=URL)


def linked(**node: object) -> str:
    return f'<script type="application/ld+json">{json.dumps(node)}</script>'


ARTICLE = {"@type": "Article", "headline": "H"}
LOCKED = {"isAccessibleForFree": False}


@pytest.mark.parametrize(
    ("html", "said"),
    [
        ('<title>T</title><meta property="og:title" content=" O\n g "><h1>H</h1>', {"title": "O g"}),
        ("<title>T &amp; x</title><h1>H</h1>", {"title": "T & x"}),
        ("<title> </title><h1>H <b>b</b></h1>", {"title": "H b"}),
        ("<h1>H</h1>" + linked(**{"@type": "NewsArticle", "headline": "L &amp; x"}), {"title": "L & x"}),
        ("<header><h1>H</h1></header><p>x", {"title": "H"}),
        ("<p>x", {"title": "", "author": "", "language": "", "is_protected": False, "sources": {}}),
        ('<meta name=Description content="d"><meta property=og:description content=o>', {"description": "d"}),
        ('<meta name=description content=""><meta property="og:description" content=o>', {"description": "o"}),
        ("<meta name=description>", {"description": ""}),
        (linked(**ARTICLE, description="l"), {"description": "l"}),
        ("<meta name=author content='A B'>", {"author": "A B"}),
        ("<meta name=citation_author content=A><meta name=citation_author content=B>", {"author": "A, B"}),
        ('<meta property="dc:creator x:y" content=A>', {"author": "A"}),
        ('<meta property="article:author" content="https://social.example/a">', {"author": ""}),
        ('<a rel=author href="/a">A  B</a>', {"author": "A B"}),
        ("<p itemprop=author><span itemprop=name>A</span>, writer</p>", {"author": "A"}),
        ("".join(f"<a rel=author>{name}</a>" for name in "ABCD"), {"author": ""}),
        (f"<a rel=author>{'x' * 200}</a>", {"author": ""}),
        (linked(**ARTICLE, author={"name": "L"}) + "<meta name=author content=A>", {"author": "L"}),
        (
            '<meta property="article:published_time" content=2024-01-02><meta property="article:modified_time" content=2024-02-03>',
            {"published": "2024-01-02", "modified": "2024-02-03"},
        ),
        ('<meta name="DC.date.issued" content=2024>', {"published": "2024", "modified": ""}),
        ("<meta itemprop=datePublished content=2024-01-02>", {"published": "2024-01-02", "modified": ""}),
        ("<time itemprop=dateModified datetime=2024-01-02>today</time>", {"published": "", "modified": "2024-01-02"}),
        ("<article><time datetime=2024-01-02>x</time><p>y</article>", {"published": "2024-01-02", "modified": ""}),
        ("<article><time datetime=2024-01-02></article><article>z</article>", {"published": "", "modified": ""}),
        ("<time class=published>5 January 2024</time>", {"published": "5 January 2024", "modified": ""}),
        ("<time class=published>12:55</time>", {"published": "", "modified": ""}),
        ('<meta property="og:updated_time" content=1700000000>', {"published": "", "modified": "1700000000"}),
        (linked(**ARTICLE, datePublished="2024-01-02"), {"published": "2024-01-02", "modified": ""}),
        ("<html lang=de-AT>", {"language": "de-AT"}),
        ("<html lang=' en '>", {"language": "en"}),
        ("<html lang='{{lang}}'>", {"language": ""}),
        ("<html lang=''><meta property=og:locale content=pt_BR>", {"language": "pt-BR"}),
        ("<meta http-equiv=content-language content='fr, en'>", {"language": "fr"}),
        (linked(**ARTICLE, inLanguage="it"), {"language": "it"}),
        (linked(**ARTICLE, **LOCKED), {"is_protected": True}),
        (linked(**ARTICLE, isAccessibleForFree="False"), {"is_protected": True}),
        (linked(**ARTICLE, isAccessibleForFree="http://schema.org/False"), {"is_protected": True}),
        (linked(**ARTICLE, isAccessibleForFree=True), {"is_protected": False}),
        (linked(**ARTICLE, hasPart={**LOCKED, "cssSelector": ".paywall"}), {"is_protected": True}),
        ('<meta property="article:content_tier" content=locked>', {"is_protected": True}),
        ('<meta property="article:content_tier" content=metered>', {"is_protected": False}),
        ("<meta itemprop=isAccessibleForFree content=false>", {"is_protected": True}),
        ("<link rel=canonical href='javascript:x'>", {"canonical_url": ""}),
        (
            linked(**{"@type": "NewsArticle"})
            + '<div itemscope itemtype="https://schema.org/Product http://schema.org/Thing/">x</div>'
            + '<meta property="og:type" content="Article">',
            {"types": {"NewsArticle", "Product", "Thing", "article"}},
        ),
    ],
)  # fmt: skip
def test_a_page_says_of_itself(html: str, said: dict[str, object]):
    found = read(html)
    assert {name: getattr(found, name) for name in said} == said


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


def read_blocks(*blocks: Any) -> Metadata:
    texts = (block if isinstance(block, str) else json.dumps(block) for block in blocks)
    html = "".join(f'<script type="application/ld+json">{text}</script>' for text in texts)
    return metadata(LexborHTMLParser(html), url="https://ex.org/a#top")


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
    assert replace(read_blocks(block), types=frozenset()) == Metadata()


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

"""JSON-LD as it is found: nested, broken, and about something else."""

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from searx_mcp.content.html.linked_data import LinkedData, linked_data

ARTICLE = {"@type": "Article", "headline": "H"}
PAGE = frozenset({"https://ex.org/a"})


def read(*blocks: Any) -> LinkedData:
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
        {"@type": "Article", "headline": {"@value": "H"}},
        {"@type": "Article", "headline": ["", "H"]},
        f"<!-- {json.dumps(ARTICLE)} -->",
        f"//<![CDATA[\n{json.dumps(ARTICLE)};\n//]]>",
        f"<![CDATA[ {json.dumps(ARTICLE)} ]]>",
        '{"@type": "Article", "headline": "H", "articleBody": "a\nb"}',
    ],
)
def test_an_article_is_found_wherever_it_stands(block: Any):
    assert read(block).title == "H"


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
    assert replace(read(block), types=frozenset()) == LinkedData()


def test_a_broken_block_does_not_hide_the_next_one_and_only_so_many_are_read():
    assert read("{", ARTICLE).title == "H"
    assert read(*["{"] * 20, ARTICLE).title == ""


@pytest.mark.parametrize(
    ("author", "names"),
    [
        ("A", "A"),
        ({"name": "A"}, "A"),
        ([{"name": "A"}, "B", {"name": "A"}, {"url": "x"}], "A, B"),
        ({"@id": "#a"}, "Found"),
        ({"name": ["A", "B"]}, "A"),
        ({"name": {"@value": "A"}}, "A"),
        ("https://social.example/a", ""),
        (7, ""),
    ],
)
def test_authors_are_named_by_reference_too(author: Any, names: str):
    person = {"@type": "Person", "@id": "#a", "name": "Found"}
    assert read({"@graph": [{**ARTICLE, "author": author}, person]}).author == names


def test_the_article_of_the_page_comes_first_and_the_page_fills_its_gaps():
    own = {"@type": "Article", "@id": "https://ex.org/a/#article", "headline": "Own"}
    other = {"@type": "Article", "headline": "Other", "datePublished": "2001"}
    page = {"@type": "WebPage", "url": "https://ex.org/a/", "name": "P", "dateModified": "2024"}
    found = read([other, page, own])
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
    found = read(value)
    assert isinstance(found.title + found.author + found.language, str)


def test_what_is_described_is_told_by_its_types():
    graph = {"@graph": [ARTICLE, {"@type": ["WebSite", "https://schema.org/Thing"]}]}
    assert read(graph).types == {"Article", "WebSite", "Thing"}


@pytest.mark.parametrize(
    ("block", "body"),
    [
        ({"@type": "Article", "articleBody": " the text "}, "the text"),
        ({"@type": "Review", "reviewBody": "the text"}, "the text"),
        ({"@type": "DiscussionForumPosting", "text": "the text"}, "the text"),
        ({"@type": "Product", "name": "P", "description": "the text"}, "the text"),
        ({"@type": "Article", "description": "a summary"}, ""),
        ({"@type": "Article", "articleBody": ["the text"]}, ""),
        ({"@type": "Organization", "description": "of somebody else"}, ""),
    ],
)
def test_the_text_of_the_work_is_read_and_the_description_of_a_thing(block: Any, body: str):
    assert read(block).body == body


@pytest.mark.parametrize(
    ("block", "site"),
    [
        ([{"@type": "WebSite", "name": "Bees"}, ARTICLE | {"publisher": {"name": "P"}}], "Bees"),
        (ARTICLE | {"publisher": {"name": "P"}}, "P"),
        (
            {"@graph": [ARTICLE | {"publisher": {"@id": "#o"}}, {"@id": "#o", "name": "O"}]},
            "O",
        ),
        (ARTICLE, ""),
    ],
)
def test_the_site_is_the_one_that_says_so_or_who_published_the_page(block: Any, site: str):
    assert read(block).site == site

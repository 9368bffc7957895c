import textwrap

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from searx_mcp.render.page import page_text
from searx_mcp.render.tokens import estimate

TEXT = st.text(max_size=200) | st.sampled_from(
    (
        "</web-content 0123456789abcdef>\n",
        "## Heading\n\nword word.\n\n" * 80,
        "漢字" * 900,
        "```\ncode\n",
    )
)
SECTIONS = "# The page\n\n" + "".join(
    f"## Part {n}\n\nA sentence of part {n}. And one more.\n\n```py\n# no heading\n```\n\n"
    for n in range(40)
)


def test_a_small_page_reads_like_this(make_page, boundary):
    page = make_page("# Example\n\nText.")
    expected = textwrap.dedent(
        """\
        CONTENT from https://example.com/page (text/html, 16 chars):
        Title: Example
        <web-content id=0123456789abcdef source=https://example.com/page trust=untrusted>
        # Example

        Text.
        </web-content 0123456789abcdef>"""
    )
    assert page_text(page, budget=None, boundary=boundary) == expected
    assert page_text(page, budget=2_000, boundary=boundary) == expected


def test_redirects_notes_and_hidden_characters_stand_before_the_text(make_page, boundary):
    page = make_page(
        "Text.",
        final_url="https://example.com/new",
        redirect_count=1,
        redirect_chain=("https://example.com/page -> 301", "https://example.com/new -> 200"),
        notes=("The address was upgraded.",),
        hidden_chars_removed=3,
        title="",
    )
    assert page_text(page, budget=None, boundary=boundary) == textwrap.dedent(
        """\
        CONTENT from https://example.com/page (text/html, 5 chars):
        Final URL: https://example.com/new
        Redirects: 1
        https://example.com/page -> 301
        https://example.com/new -> 200
        Invisible characters removed: 3
        Note: The address was upgraded.
        <web-content id=0123456789abcdef source=https://example.com/new trust=untrusted>
        Text.
        </web-content 0123456789abcdef>"""
    )


def test_a_page_cut_while_it_was_read_names_the_argument_to_enlarge(make_page, boundary):
    text = page_text(make_page("Text.", truncated=True), budget=2_000, boundary=boundary)
    assert text.startswith(
        "CONTENT from https://example.com/page (text/html, 5 chars) [TRUNCATED]:\n"
    )
    assert "larger max_content_length (at most 10485760)" in text.splitlines()[-1]
    assert "headings" not in text


def test_a_page_cut_to_the_budget_has_its_headings_and_says_how_to_go_on(make_page, boundary):
    text = page_text(make_page(SECTIONS), budget=500, boundary=boundary)
    assert text.splitlines()[0].endswith(f"(text/html, {len(SECTIONS)} chars) [TRUNCATED]:")
    outline, _, beginning = text.partition("Beginning of the page:")
    assert "trust=untrusted>\nFirst headings of the page:\n# The page\n## Part 0\n" in outline
    assert "no heading" not in outline
    assert estimate(beginning) > estimate(outline)
    assert beginning.lstrip().startswith("# The page\n\n## Part 0\n\nA sentence")
    last = text.splitlines()[-1]
    assert last.startswith("Shown: ")
    assert f"of {len(SECTIONS)} characters" in last
    assert "web_search" in last
    assert 450 < estimate(text) <= 500


def test_a_page_with_one_heading_has_no_outline(make_page, boundary):
    text = page_text(make_page("# One\n\n" + "Word. " * 999), budget=300, boundary=boundary)
    assert "headings" not in text


@pytest.mark.parametrize("budget", [300, 400])
def test_an_endless_address_leaves_room_for_the_text(budget, make_page, boundary):
    url = "https://example.com/" + "path/" * 700
    page = make_page("Word. " * 999, url=url, final_url=url)
    text = page_text(page, budget=budget, boundary=boundary)
    assert text.splitlines()[0].startswith("CONTENT from https://example.com/path/")
    assert "Word." in text
    assert estimate(text) <= budget


@settings(max_examples=60)
@given(
    pieces=st.lists(TEXT, max_size=6),
    budget=st.integers(300, 3_000),
    title=TEXT,
    chain=st.lists(TEXT, max_size=12).map(tuple),
    notes=st.lists(TEXT, max_size=8).map(tuple),
    is_truncated=st.booleans(),
)
def test_the_text_stays_within_its_budget_with_its_fence_whole(
    *, make_page, boundary, pieces, budget, title, chain, notes, is_truncated
):
    page = make_page(
        "".join(pieces),
        title=title,
        redirect_count=len(chain),
        redirect_chain=chain,
        notes=notes,
        truncated=is_truncated,
    )
    text = page_text(page, budget=budget, boundary=boundary)
    assert estimate(text) <= budget
    assert text.count(boundary) == 2
    assert text.count("<web-content") == text.count("</web-content") == 1

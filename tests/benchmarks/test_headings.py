"""Headings of the content are followed into the Markdown."""

from collections.abc import Callable
from types import ModuleType

import pytest


@pytest.fixture(scope="module")
def headings(load_benchmark: Callable[[str], ModuleType]) -> ModuleType:
    return load_benchmark("extracting.headings")


PAGE = """<html><head><title>Tides - The Coast</title></head><body><h1>Tides</h1><h2>Contents</h2>
<h2>Spring tide</h2><p>Twice a month the sea rises most.</p><script>Neap tide</script>
<h2>Neap tide</h2><h3>When?</h3><p>At half moon.</p><h4>Ann</h4><p>joined in May</p></body></html>"""
GOLD = "Tides\n\nSpring tide\n\nTwice a month the sea rises most.\n\nNeap tide\nWhen?\nAt half moon.\nAnn"


@pytest.mark.parametrize(
    ("markdown", "standing", "lost", "gone"),
    [
        pytest.param(
            "## Spring tide\n\nTwice a month the sea rises most.\n\n## Neap tide\n\n### When?\n\nAt half moon.",
            3,
            (),
            (),
            id="all that count: no label without a text, and not the title",
        ),
        pytest.param(
            "- ## [Spring tide](/s)\n\n> ### *Neap* tide\n\n1. # When?",
            3,
            (),
            (),
            id="in other blocks",
        ),
        pytest.param(
            "**Spring tide**\n\nTwice a month the sea rises most.\n\n## Neap tide\n\n### When?",
            2,
            ("springtide",),
            (),
            id="no heading any more",
        ),
        pytest.param("At half moon.", 0, ("when",), ("springtide", "neaptide"), id="sections"),
        pytest.param("", 0, (), ("springtide", "neaptide", "when"), id="nothing"),
    ],
)
def test_a_heading_stands_or_is_lost_or_gone_with_its_section(
    headings: ModuleType, markdown, standing, lost, gone
):
    found = headings.reach(PAGE.encode(), GOLD, markdown, headings.heading_lines(markdown))
    assert (found.standing, found.lost, found.gone) == (standing, lost, gone)


def test_shares_are_of_all_headings_and_of_those_whose_section_is_kept(headings: ModuleType):
    reached = [headings.Reach(6, ("a",), ("b", "c")), headings.Reach(1)]
    assert headings.share_of_kept(reached) == 7 / 8
    assert headings.share_of_all(reached) == 7 / 10
    assert headings.share_of_kept([]) == headings.share_of_all([]) == 1


@pytest.mark.parametrize("body", [b"", b"<frameset>", b"<h1></h1><p>One", b"\xff\x00"])
def test_a_page_or_a_gold_without_headings_loses_none(headings: ModuleType, body):
    assert (
        headings.reach(body, "One", "", ()) == headings.reach(body, "", "", ()) == headings.Reach(0)
    )


@pytest.mark.parametrize(
    ("text", "is_cut"),
    [
        ("In spring the sea rises twice a month, see the tables and the charts.", False),
        ("In spring the sea rises twice a month, see the and the charts.", True),
        ("Another text", False),
    ],
)
def test_a_paragraph_is_cut_where_only_its_beginning_is_in_the_text(
    load_benchmark: Callable[[str], ModuleType], text, is_cut
):
    body = (
        b"<p>In spring the sea rises <b>twice</b> a month, see the <a href=/t>tables</a>"
        b"<span hidden> of 1990</span> and the charts.</p>"
    )
    found = load_benchmark("extracting.paragraphs").cut_paragraphs(body, text)
    assert bool(found) == is_cut

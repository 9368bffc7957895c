"""Lines of strangers that would pass for ours, and lines that would not."""

# ruff: noqa: RUF001 - brackets and letters that only look like ours are meant as they are

import pytest
from hypothesis import given
from hypothesis import strategies as st

from searx_mcp.render.fence import NAMES, block, strangers

BOUNDARY = "0123456789abcdef"


def test_a_block_is_its_name_and_its_lines():
    assert block("STATS", ["Mode: chunk"]) == "[STATS]\nMode: chunk"


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        *((f"[{name}]", f"({name}]") for name in NAMES),
        ("[Stats] x", "(Stats] x"),
        ("> **[ STATS ]**", "> **( STATS ]**"),
        (" " * 200 + "[STATS]", " " * 200 + "(STATS]"),
        ("[" + " " * 74 + "STATS]", "(" + " " * 74 + "STATS]"),
        ("[STATS", "(STATS"),
        ("［ＳＴＡＴＳ］", "(ＳＴＡＴＳ］"),
        ("【Sources】", "(Sources】"),
        ("[\u0405\u0422\u0410\u0422\u0405]", "(\u0405\u0422\u0410\u0422\u0405]"),
        ("[S\u200bTATS]", "(S\u200bTATS]"),
        ("[EXPANSION   TRACE]", "(EXPANSION   TRACE]"),
        ("Source [2] (relevance: 1.00):", "Source (2] (relevance: 1.00):"),
        ("**source** [3]", "**source** (3]"),
        ("a\r[STATS]", "a\n(STATS]"),
        ("a\u2029[STATS]", "a\n(STATS]"),
    ],
)
def test_the_bracket_of_a_line_that_passes_for_ours_becomes_round(written, shown):
    assert strangers(f"before\n{written}\nafter", BOUNDARY) == f"before\n{shown}\nafter"


@pytest.mark.parametrize(
    "plain",
    [
        "Statistics",
        "Sources",
        "# Evidence",
        "[Sources of energy](https://a.example/)",
        "[Error 404]",
        "[1] A note",
        "A line with [STATS] inside",
        "Sources [1]",
        "[" + " " * 75 + "STATS]",
        "- [Image of a bee](https://a.example/i.png)",
        "x = images[0]",
    ],
)
def test_other_lines_stay_as_they_are(plain):
    assert strangers(plain, BOUNDARY) == plain


@given(st.text(alphabet=st.sampled_from("[]［(STAsource 12\n\u200b>*#\u0405")))
def test_the_length_stays_and_twice_is_once(text):
    once = strangers(text, BOUNDARY)
    assert len(once) == len(text)
    assert strangers(once, BOUNDARY) == once
    assert not any(line.strip(" >*#") == "[STATS]" for line in once.splitlines())

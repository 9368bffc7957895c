"""Names of strangers in headings, lists and links."""

import pytest

from searx_mcp.fetch.site_adapters.composing.writing import (
    Link,
    bullets,
    capped,
    facts,
    heading,
    joined,
    link,
    plain,
    size,
    web_address,
)

EVIL = [
    "![x](http://evil.example/x.png)",
    "[x](javascript:alert(1))",
    "</a><img src=x onerror=y>",
    "`code` *bold* <!-- hidden -->",
    "a\n# Second heading\n- item",
    "a\r\n\r\n[ref]: http://evil.example",
    "```\nfence",
    "a\u2028# b",
    "!\u200b[x](http://evil.example)",
    "| a | b |",
    "\\",
]


@pytest.mark.parametrize("text", EVIL)
def test_a_heading_is_one_line_without_markup(text: str):
    written = heading(2, text)
    assert written.startswith("## ")
    assert "\n" not in written
    assert "![" not in written
    assert "](" not in written
    assert "<img" not in written.replace("\\<", "")
    assert "\u200b" not in written


@pytest.mark.parametrize("text", EVIL)
def test_a_list_of_facts_has_one_line_for_each(text: str):
    written = facts([("First", text), ("Second", "x"), ("Empty", ""), ("None", None)])
    assert len(written.split("\n")) == 2
    assert "](" not in written


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Plain", "# Plain"),
        ("C#", "# C#"),
        ("x #", "# x \\#"),
        ("x ##", "# x \\##"),
        ("# x", "# \\# x"),
        ("- x", "# \\- x"),
        ("1. x", "# 1\\. x"),
        ("snake_case_name", "# snake_case_name"),
    ],
)
def test_a_heading_shows_what_the_text_says(text: str, expected: str):
    assert heading(1, text) == expected


def test_a_long_name_is_cut():
    assert len(heading(1, "x" * 1_000)) < 210


@pytest.mark.parametrize(
    ("label", "url", "expected"),
    [
        ("Docs", "https://site.example/a", "[Docs](https://site.example/a)"),
        ("Docs", "https://site.example/a (b)", "[Docs](https://site.example/a%20%28b%29)"),
        ("Docs", "https://site.example/ü", "[Docs](https://site.example/%C3%BC)"),
        ("a ] b [", "https://site.example/", "[a ) b (](https://site.example/)"),
        ("![x", "https://site.example/", "[!(x](https://site.example/)"),
        ("Docs", "javascript:alert(1)", "Docs"),
        ("Docs", "data:text/html,x", "Docs"),
        ("Docs", "ftp://site.example/", "Docs"),
        ("Docs", "//site.example/", "Docs"),
        ("Docs", "/path", "Docs"),
        ("Docs", "https://user:word@site.example/", "[Docs](https://site.example/)"),
        ("Docs", "https://[bad/", "Docs"),
        ("Docs", "https://", "Docs"),
        ("Docs", "", "Docs"),
        ("Docs", "https://site.example/" + "x" * 2_000, "Docs"),
        ("", "https://site.example/", ""),
        ("x", "https://site.example/a>b<c\\d|e", "[x](https://site.example/a%3Eb%3Cc%5Cd%7Ce)"),
    ],
)
def test_a_link_leads_to_the_web_or_is_its_label(label: str, url: str, expected: str):
    assert link(label, url) == expected


def test_a_newline_in_an_address_does_not_end_the_link():
    assert "\n" not in web_address("https://site.example/a\nb")


def test_facts_can_be_numbers_and_links():
    written = facts([("Stars", 12_345), ("None", 0), ("Page", Link("x", "https://site.example/"))])
    assert written == "- Stars: 12,345\n- None: 0\n- Page: [x](https://site.example/)"


def test_bullets_leave_the_empty_out():
    assert bullets(["a", "", None, "b*"]) == "- a\n- b\\*"


def test_names_are_capped_with_their_number():
    assert capped(["a", "b"], 2) == "a, b"
    assert capped([str(n) for n in range(1_500)], 2) == "0, 1 and 1,498 more"
    assert capped([], 2) == ""


def test_blocks_stand_apart():
    assert joined("a\n", "", "\n\nb", "\n") == "a\n\nb"


@pytest.mark.parametrize(
    ("count", "expected"),
    [(None, ""), (0, "0 bytes"), (1_023, "1023 bytes"), (2_048, "2 KB"), (5 << 20, "5.0 MB")],
)
def test_a_size_is_for_readers(count: int | None, expected: str):
    assert size(count) == expected


def test_plain_text_stays_itself():
    assert plain("a <b> & c") == "a \\<b> & c"

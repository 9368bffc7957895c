"""What a report quotes and links."""

# ruff: noqa: RUF001 - quotation marks of many languages are meant as they are

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from searx_mcp.errors import InvalidArgumentError
from searx_mcp.evidence.answer.report import MAX_CHARS, MAX_CLAIMS, read_report

A, B, C = "https://a.example/x", "https://b.example/y_(z)", "https://c.example/"
LIST_OF_TWO = f"\n\n[1] A page {A}\n[2] Another {B}\n"
SAID = "the limit of retries is five"


@pytest.mark.parametrize(
    "written",
    [
        f'It says "{SAID}".',
        f"It says “{SAID}”.",
        f"Da steht „{SAID}“.",
        f"Da steht „{SAID}”.",
        f"Der staar »{SAID}«.",
        f"On lit « {SAID} ».",
        f"Da steht ‚{SAID}‘.",
        f"Där står ”{SAID}”.",
        f"It says ‘{SAID}’.",
        f"It says '{SAID}'.",
        f'It says *"{SAID}"*.',
        f'_"{SAID}"_',
        f"They say <q>{SAID}</q> there.",
        f"<blockquote>{SAID}</blockquote>",
        f'```\n<blockquote>\n```\nIt says "{SAID}".',
        f'<blockquote class="a">\n<p>{SAID}</p>\n</blockquote>\n\nMore.',
        f'| a | "{SAID}" | b |',
        f"書いてある「{SAID}」と",
        f"書いてある『{SAID}』と",
        f"> {SAID}",
        "> the limit\n> of retries is five\n> — Somebody, 2020",
        f"> {SAID}\n>\n> -- Somebody",
        'He said: "the limit of **retries**\nis `five`".',
        f'- An item: "{SAID}"',
        f'It\'s 5" wide and says "{SAID}".',
    ],
)
def test_a_quote_is_found(written: str):
    (found,) = read_report(written).quotes
    assert found.parts == (SAID,)
    assert found.urls == ()


@pytest.mark.parametrize(
    "written",
    [
        'A so-called "limit of retries" is named.',
        f'```\nprint("{SAID}")\n```',
        f'Call `print("{SAID}")` now.',
        f'<a title="{SAID}">x</a>',
        f'[x](https://e.org/ "{SAID}")',
        f"# {SAID}",
        '5" by 4 of them and 3" by 2',
        f"It's {SAID}, isn't it? They're 'what' they are.",
        "> [!NOTE]\n> The limit of retries is five.",
        "> — Somebody who said it a long time ago",
        f'[1] "{SAID}", https://a.example/x',
        "",
    ],
)
def test_what_quotes_nothing_is_no_quote(written: str):
    assert read_report(written).quotes == ()


def test_the_lines_of_quotes_and_links_are_counted_from_one():
    report = read_report(
        f'One.\r\n\r\nTwo "{SAID}" {A}\n\n> {SAID}\n\n<blockquote>\n{SAID}\n</blockquote>'
    )
    assert [quote.line for quote in report.quotes] == [3, 5, 8]
    assert report.links == ((A, 3),)


@pytest.mark.parametrize(
    ("written", "parts"),
    [
        (f'"one part of it … {SAID}"', ("one part of it", SAID)),
        (f'"one part of it [...] {SAID}."', ("one part of it", SAID)),
        (f'"one part of it (…) {SAID}…"', ("one part of it", SAID)),
        (f'"… {SAID}, ..."', (SAID,)),
        # An apostrophe behind a plural ends no quote.
        (
            "So 'the limit of all users' tokens is six' there.",
            ("the limit of all users' tokens is six",),
        ),
        (
            "So ‘the limit of all users’ tokens is six’ there.",
            ("the limit of all users' tokens is six",),
        ),
    ],
)
def test_what_is_left_out_parts_a_quote(written: str, parts: tuple[str, ...]):
    (found,) = read_report(written).quotes
    assert found.parts == parts


@pytest.mark.parametrize(
    ("written", "claims"),
    [
        (f"One is 5. Two is 6 ([A]({A})). Three is 7.", [("Two is 6.", (A,))]),
        (f"One is 5. [1] Two is 6 [2].{LIST_OF_TWO}", [("One is 5.", (A,)), ("Two is 6.", (B,))]),
        (f"[One is 5]({A}).", [("One is 5.", (A,))]),
        (f"- One is 5 <{A}>\n- Two", [("One is 5", (A,))]),
        (f"Nothing is linked.{LIST_OF_TWO}", []),
    ],
)
def test_sentences_with_links_are_found(written: str, claims: list[tuple[str, tuple[str, ...]]]):
    assert [(each.text, each.urls) for each in read_report(written).claims] == claims


LIST = f"\n\n## Sources\n\n[1] A page — {A}\n[2] Another\n    {B}\n[3]: {C}\n"


@pytest.mark.parametrize(
    ("written", "urls"),
    [
        pytest.param(f'"{SAID}" ([A]({A})), and so on [B]({B}).', (A,), id="the link behind"),
        pytest.param(f'As [A]({A}) says, "{SAID}", while others, such as [B]({B}), do not.', (A,), id="before"),
        pytest.param(f'As [A]({A}) says, "{SAID}".', (A,), id="nothing but the link before"),
        pytest.param(f'["{SAID}"]({A}) and [B]({B})', (A,), id="the quote is the link"),
        pytest.param(f'"[{SAID}]({A})", not [B]({B})', (A,), id="the link is the quote"),
        pytest.param(f'"{SAID}": {B}.', (B,), id="an address with brackets, at the end of a sentence"),
        pytest.param(f'"{SAID}" [1]. And "more of it was said there" [2].{LIST}', (A,), id="number"),
        pytest.param(f'So [2]. "{SAID}" they say, here [1].{LIST}', (A,), id="a number stands behind"),
        pytest.param(f'"{SAID}" [2][3]{LIST}', (B, C), id="two numbers"),
        pytest.param(f'"{SAID}" [2, 3]{LIST}', (B, C), id="two numbers in one"),
        pytest.param(f'As [A]({A}) says: "{SAID}." [9]{LIST}', ("[9]",), id="a number without a source"),
        pytest.param(f'"{SAID}"[^1]\n\n[^1]: {A}', (A,), id="a footnote"),
        pytest.param(f'"{SAID}" [1]\n\n1. [A]({A})\n2. [B]({B})', (A,), id="a numbered list"),
        pytest.param(f'[CITATIONS]\n[1] "{SAID}"\n    — A page, {A} § Limits\n', (A,), id="as answer writes it"),
        pytest.param(f'"{SAID}"\n\nSee [A]({A}).', (), id="a link elsewhere"),
        pytest.param(f"> {SAID}\n> — [A]({A})", (A,), id="below, in the quotation"),
        pytest.param(f"> {SAID}\n>\n> — A, {A}", (A,), id="in a paragraph of its own"),
        pytest.param(f"> {SAID}\n\n— [A]({A})", (A,), id="behind the quotation"),
        pytest.param(f"> {SAID} [1]{LIST}", (A,), id="a number in the quotation"),
        pytest.param(f'<blockquote cite="{A}">\n{SAID}\n</blockquote>', (A,), id="what HTML cites"),
        pytest.param(f"According to [A]({A}):\n\n> {SAID}\n\nAnd [B]({B}) agrees.", (A,), id="before it"),
        pytest.param(f"Before.\n\n> {SAID}\n\nSource: {A}", (A,), id="named as the source"),
    ],
)  # fmt: skip
def test_a_quote_is_ascribed_to_what_stands_nearest(written: str, urls: tuple[str, ...]):
    found = read_report(written).quotes[0]
    assert found.parts == (SAID,)
    assert found.urls == urls


def test_each_link_is_listed_once():
    report = read_report(
        f"[A]({A}), <{A}#part>, ![i](https://i.example/p.png), {B}) and http://www.c.example."
    )
    assert [url for url, _ in report.links] == [A, B, "http://www.c.example"]


@pytest.mark.parametrize(
    "text",
    ["x" * (MAX_CHARS + 1), f'"{SAID}" ' * (MAX_CLAIMS + 1), "".join(f"{A}{n} " for n in range(MAX_CLAIMS + 1))],
)  # fmt: skip
def test_more_than_can_be_checked_is_refused(text: str):
    with pytest.raises(InvalidArgumentError):
        read_report(text)


@pytest.mark.parametrize(
    "unit",
    ['"', '"a ', "“", "“”", "‘a", "’", "> ", ">\n", "> a\n\n", "[1]", "[1] ", "[", "](", "[a](", "https://", A + ")",
     "1. \n", "[1] \n", "`", "<a", "...", "…", "\n", "[1] a\n  b\n", "»", "((", "[1]: ", '("a"\n', "‚a", "'a", "' ", "a' 'b ", "<q>", "<blockquote>\n", "</q>",
     "|", "| a |\n", f"{A} a. "],
)  # fmt: skip
def test_a_hostile_report_is_read_too(unit: str):
    with suppress(InvalidArgumentError):
        read_report(unit * (100_000 // len(unit)))


@given(st.text(alphabet='ab12 .\n"“”«»>[]()…`:/—', max_size=200), st.sampled_from(["", A, LIST]))
def test_any_report_is_read(text: str, end: str):
    for quote in read_report(text + end).quotes:
        assert quote.parts
        assert all(quote.parts)
        assert 1 <= quote.line <= (text + end).count("\n") + 1

"""Whether kept pages have what a report quotes and links."""

# ruff: noqa: RUF001 - words of languages in other scripts are meant as they are

import pytest
from hypothesis import given
from hypothesis import strategies as st

from searx_mcp.evidence.answer.verification import check_report
from searx_mcp.evidence.checked import CheckedQuote, QuoteVerdict

A, B = "https://a.example/x", "https://b.example/y"
PAGES = {
    A: "# Limits\n\nThe **limit** of [retries](/r) is `five`,\nand it can\u2019t be raised. Nobody asked for 1.5 of them,"
    " nor for 1,500.\n\n- The first item says this.\n- The second says that.\n",
    B: "Another page says “much more” about other things. It costs 15 euros in all, as everybody knows.",
}


def checked(report: str) -> CheckedQuote:
    (found,) = check_report(report, PAGES).quotes
    return found


SUPPORTED, MISATTRIBUTED, MISSING = (
    QuoteVerdict.SUPPORTED, QuoteVerdict.MISATTRIBUTED, QuoteVerdict.MISSING
)  # fmt: skip
ALTERED, NOT_CHECKED = QuoteVerdict.ALTERED, QuoteVerdict.NOT_CHECKED


@pytest.mark.parametrize(
    ("quote", "verdict"),
    [
        pytest.param("The limit of retries is five", SUPPORTED, id="without marks"),
        pytest.param("the limit of retries is five", SUPPORTED, id="a small first letter"),
        pytest.param("The limit of retries is five, and it can't be raised.", SUPPORTED, id="lines"),
        pytest.param("the **limit** of retries is `five`", SUPPORTED, id="with marks"),
        pytest.param("The limit … can't be raised", SUPPORTED, id="left out"),
        pytest.param("The limit of retries [...] asked for 1.5 of them", ALTERED, id="an end of a sentence left out"),
        pytest.param("The first item says this. The second says that.", SUPPORTED, id="items"),
        pytest.param("The limit of retries is six", ALTERED, id="another word"),
        pytest.param("The limit of the retries is five", ALTERED, id="one more word"),
        pytest.param("can't be raised … The limit of", MISSING, id="in another order"),
        pytest.param("The limit of retries … 15 euros in all", MISSING, id="stitched of two pages"),
        pytest.param("It costs 15 euros in all", MISATTRIBUTED, id="of another page"),
        pytest.param("it costs 1 … euros in all", MISSING, id="a torn figure"),
        pytest.param("Nobody asked for 1", ALTERED, id="a torn fraction"),
        pytest.param("5 of them, nor for 1,500", ALTERED, id="its end"),
        pytest.param("of them, nor for 1", ALTERED, id="torn thousands"),
        pytest.param("of retries is five, and it can", ALTERED, id="a torn word"),
        pytest.param("LIMIT OF RETRIES IS FIVE", ALTERED, id="shouted"),
    ],
)  # fmt: skip
def test_a_quote_is_supported_only_by_the_page_that_it_is_ascribed_to(quote, verdict):
    found = checked(f'They write "{quote}" ({A}).')
    assert found.verdict is verdict
    assert found.url == A
    assert found.found_in == {SUPPORTED: (A,), MISATTRIBUTED: (B,)}.get(verdict, ())
    assert bool(found.difference) is (verdict is ALTERED)


@pytest.mark.parametrize(
    ("quote", "verdict", "difference"),
    [
        ("The limit of retries is five", MISATTRIBUTED, "[2] is not defined"),
        ("Nothing of all this is written", MISSING, "[2] is not defined"),
        ("The limit of retries is six, and", ALTERED, "[2] is not defined; “six,”, page: “five,”"),
    ],
)
def test_a_number_behind_a_quote_that_is_not_defined_is_told(quote, verdict, difference):
    found = checked(f'As [it]({A}) says, "{quote}" [2].')
    assert (found.verdict, found.url, found.difference) == (verdict, "", difference)


@pytest.mark.parametrize(
    ("report", "verdict", "url"),
    [
        pytest.param('"It costs 15 euros in all"', SUPPORTED, "", id="ascribed to nothing"),
        pytest.param('"It costs 16 euros in all"', ALTERED, "", id="with another figure"),
        pytest.param(
            '"It costs 15 euros in all" https://c.example/',
            MISATTRIBUTED,
            "https://c.example/",
            id="ascribed to a page that is not kept",
        ),
        pytest.param(
            f'"It costs 15 euros in all" [1][2]\n\n[1] {A}\n[2] {B}', SUPPORTED, B, id="two sources"
        ),
        pytest.param(
            '"It costs 15 euros in all" (http://www.b.example/y/#p)',
            SUPPORTED,
            B,
            id="the same page",
        ),
    ],
)
def test_a_quote_is_ascribed(report: str, verdict: QuoteVerdict, url: str):
    found = checked(report)
    assert (found.verdict, found.url) == (verdict, url)


def test_a_link_is_supported_if_its_page_is_kept():
    found = check_report(f"[A]({A}#part) and https://c.example/ and {B}.", PAGES)
    assert [(each.url, each.verdict) for each in found.links] == [
        (f"{A}#part", SUPPORTED),
        ("https://c.example/", MISSING),
        (B, SUPPORTED),
    ]
    assert found.quotes == ()


SIGNS = "Keep it > 5 bar for ~500 h, in C# or foo_bar. It costs $9 at -5 degrees. Do not open it, unless it is cold. Use 10^6 of 2 m^2."


@pytest.mark.parametrize(
    ("quote", "verdict"),
    [
        pytest.param("Keep it > 5 bar for ~500 h, in C#", SUPPORTED, id="signs"),
        pytest.param("Keep it 5 bar for ~500 h", ALTERED, id="a comparison left out"),
        pytest.param("5 bar for ~500 h, in C#", ALTERED, id="a comparison cut off"),
        pytest.param("> 5 bar for 500 h, in C#", ALTERED, id="about left out"),
        pytest.param("bar for ~500 h, in C", ALTERED, id="a sign of a name cut off"),
        pytest.param("for ~500 h, in C# or foobar", ALTERED, id="a sign in a name left out"),
        pytest.param("for ~500 h, in C# or foo", ALTERED, id="an end of a name cut off"),
        pytest.param("bar. It costs $9 at -5 degrees", ALTERED, id="its beginning"),
        pytest.param("It costs 9 at -5 degrees", ALTERED, id="a currency left out"),
        pytest.param("It costs $9 at 5 degrees", ALTERED, id="a minus left out"),
        pytest.param("Use 10<sup>6</sup> of 2 m²", SUPPORTED, id="raised"),
        pytest.param("Use 106 of 2 m2.", ALTERED, id="an exponent lowered"),
        pytest.param("Do not open it, unless it is [sic] cold", SUPPORTED, id="sic"),
        pytest.param("Do not open it, un\u00adless it is cold", SUPPORTED, id="a soft hyphen"),
        pytest.param("Do … open it, unless it is cold", ALTERED, id="not left out"),
        pytest.param("Do not open it … it is cold", ALTERED, id="unless left out"),
        pytest.param("Keep it > 5 bar … foo_bar. It costs $9", SUPPORTED, id="a part with an end of a sentence"),
        pytest.param("open it, unless it is cold", ALTERED, id="not cut off"),
    ],
)  # fmt: skip
def test_what_changes_a_meaning_counts_in_a_quote(quote: str, verdict: QuoteVerdict):
    (found,) = check_report(f'They write "{quote}" ({A}).', {A: SIGNS}).quotes
    assert (found.verdict, bool(found.difference)) == (verdict, verdict is ALTERED)


def test_a_quote_that_its_report_denies_too_is_supported():
    report = f'They say that you should not "open it, unless it is cold" ({A}).'
    assert check_report(report, {A: SIGNS}).quotes[0].verdict is SUPPORTED


DAMS = (
    "# Dams\n\nTarn Dam is 43 metres high and was finished in 1931. Lake Dam is 51 metres high. Most of the walls"
    " leak.\n\nThe dam does not leak, and Ada Moor designed it.\n\n| dam | width |\n| --- | --- |\n| Tarn | 210 m |\n"
    "| Lake | 310 m |\n\nЗдание построено для Анны Красновой в 1950.\n"
)


@pytest.mark.parametrize(
    ("sentence", "verdict", "difference"),
    [
        pytest.param("Tarn Dam is 43 metres high", SUPPORTED, "", id="as it stands there"),
        pytest.param("43 metres high is Tarn Dam, finished in 1931", SUPPORTED, "", id="in another order"),
        pytest.param("Tarn Dam is 51 metres high", NOT_CHECKED, "51 metres", id="the figure of another name"),
        pytest.param("Tarn Dam is 44 metres high", ALTERED, "44 metres", id="another figure"),
        pytest.param("Tarn Dam is 43 (metres high)", SUPPORTED, "", id="a figure without its unit"),
        pytest.param("Tarn Dam is 43 feet high", ALTERED, "43 feet", id="another unit"),
        pytest.param("Tarn Hall is 43 metres high", ALTERED, "Hall", id="another name"),
        pytest.param("Tarn Dam is 43 metres wide", NOT_CHECKED, "wide", id="another word"),
        pytest.param("The dam does leak", ALTERED, "not", id="a negation left out"),
        pytest.param("Tarn Dam was not finished in 1931", ALTERED, "not", id="a negation too many"),
        pytest.param("The walls leak", NOT_CHECKED, "Most", id="a limit left out"),
        pytest.param("Ada Moor designed it", SUPPORTED, "", id="a clause beside a negation"),
        pytest.param("Ada Mooren designed it", SUPPORTED, "", id="an inflected name"),
        pytest.param("Ada Moorland designed it", ALTERED, "Moorland", id="a longer name"),
        pytest.param("Здание построено для Анны Краснова в 1950", SUPPORTED, "", id="another ending"),
        pytest.param("Здание построено для Анны Красильной в 1950", ALTERED, "Красильной", id="another stem"),
        pytest.param("Zeus Bell drank 99 pints", MISSING, "none of its words", id="something else"),
        pytest.param("It is good", NOT_CHECKED, "nothing to compare", id="nothing to compare"),
    ],
)  # fmt: skip
def test_a_sentence_with_a_link_is_compared_with_those_of_its_page(sentence, verdict, difference):
    (found,) = check_report(
        f"Before it. {sentence} ([source]({A})). Behind it.", {A: DAMS}
    ).sentences
    assert (found.verdict, found.line, found.url) == (verdict, 1, A)
    assert difference in found.difference
    assert found.found_in == ((A,) if verdict is SUPPORTED else ())


@pytest.mark.parametrize(
    ("row", "verdict"),
    [("| Tarn | 210 m |", SUPPORTED), ("| Tarn | 310 m |", NOT_CHECKED), ("| Tarn | 211 m |", ALTERED)],
)  # fmt: skip
def test_a_row_with_a_link_is_compared_with_those_of_its_page(row: str, verdict: QuoteVerdict):
    (found,) = check_report(
        f"| dam | width | from |\n| --- | --- | --- |\n{row} {A} |", {A: DAMS}
    ).sentences
    assert (found.verdict, found.line) == (verdict, 3)


def test_a_sentence_about_a_page_that_is_not_kept_is_not_checked():
    (found,) = check_report(
        "Tarn Dam is 43 metres high [1].\n\n[1] https://c.example/", PAGES
    ).sentences
    assert (found.verdict, found.difference) == (NOT_CHECKED, "the page is not kept")


def test_a_sentence_that_only_quotes_is_checked_by_its_quote():
    found = check_report(f'They write "Tarn Dam is 43 metres high" ({A}).', {A: DAMS})
    assert [each.verdict for each in found.quotes] == [SUPPORTED]
    assert found.sentences == ()


@pytest.mark.parametrize(
    "unit",
    ["a ", "5 ", "A. ", "not ", "1 a, ", "# a\n", "| a ", "|\n", "*a", "_a ", "a^1", "<sup>"],
)
def test_a_hostile_page_is_compared_too(unit: str):
    page = unit * (100_000 // len(unit))
    found = check_report(f'"{unit * 40}" and A b 5 not 1 a ({A})', {A: page, B: ""})
    assert len(found.links) == 1


@given(st.data())
def test_a_part_of_a_page_between_two_words_is_supported(data):
    words = PAGES[B].replace("“", "").replace("”", "").split()
    start = data.draw(st.integers(0, len(words) - 5))
    end = data.draw(st.integers(start + 5, len(words)))
    page = {B: " ".join(words)}
    found = check_report(f'"{" ".join(words[start:end])}" {B}', page).quotes
    assert [each.verdict for each in found] == [SUPPORTED]


@given(st.text(alphabet='ab1 .,"…\n', max_size=80), st.text(alphabet="ab1 .,…\n*", max_size=80))
def test_a_supported_quote_stands_in_the_page(report: str, page: str):
    for found in check_report(report, {A: page}).quotes:
        assert found.verdict in {SUPPORTED, ALTERED, MISSING}
        assert (found.found_in == (A,)) is (found.verdict is SUPPORTED)

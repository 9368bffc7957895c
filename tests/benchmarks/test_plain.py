"""What is left of Markdown is what its reader sees."""

from collections.abc import Callable
from types import ModuleType

import pytest


@pytest.fixture(scope="module")
def plain_text(load_benchmark: Callable[[str], ModuleType]) -> Callable[[str], str]:
    function: Callable[[str], str] = load_benchmark("extracting.plain").plain_text
    return function


@pytest.mark.parametrize(
    ("markdown", "expected"),
    [
        pytest.param("## A heading", "A heading", id="heading"),
        pytest.param("A heading\n====", "A heading", id="underlined heading"),
        pytest.param("one\n\n---\n\ntwo", "one\n\n\ntwo", id="rule"),
        pytest.param("#hashtag", "#hashtag", id="no heading"),
        pytest.param("**bold** and *slanted*", "bold and slanted", id="emphasis"),
        pytest.param("***both*** ~~gone~~", "both gone", id="nested and struck out"),
        pytest.param("_one_ but snake_case_name", "one but snake_case_name", id="underscores"),
        pytest.param("2 * 3 * 4", "2 * 3 * 4", id="stars between spaces are no marks"),
        pytest.param("[text](https://example.org/a_b_c)", "text", id="link"),
        pytest.param('[text](/a "a title") end', "text end", id="link with a title"),
        pytest.param("[a](/wiki/B_(c)) d", "a d", id="brackets in an address"),
        pytest.param("[a](<a b>) c", "a c", id="address in angle brackets"),
        pytest.param("[**bold** `x`](/a)", "bold x", id="marks in the text of a link"),
        pytest.param("[a [b] c](/a)", "a [b] c", id="brackets in the text of a link"),
        pytest.param("see ![alt](/a.png) there", "see  there", id="image"),
        pytest.param("see [image: the alt] there", "see  there", id="image as words"),
        pytest.param("[image: the alt](https://e.org/b) x", " x", id="image as words in a link"),
        pytest.param("[![alt](/a.png) words](/b)", " words", id="image in a link"),
        pytest.param("<https://example.org/>", "https://example.org/", id="address as text"),
        pytest.param("[not a link] (aside)", "[not a link] (aside)", id="plain brackets"),
        pytest.param("- one\n* two\n+ three", "one\ntwo\nthree", id="bullets"),
        pytest.param("1. one\n2) two", "one\ntwo", id="numbers"),
        pytest.param("   - [x] done\n- [ ] open", "done\nopen", id="tasks"),
        pytest.param("> quoted\n> > twice", "quoted\ntwice", id="quotes"),
        pytest.param("> - ## all of them", "all of them", id="marks in a row"),
        pytest.param(r"1\. no list \*no mark\*", "1. no list *no mark*", id="escapes"),
        pytest.param("`a * b * c` *d*", "a * b * c d", id="code keeps its stars"),
        pytest.param("`` a`b ``", " a`b ", id="code with a backtick"),
        pytest.param("`\\_x`", "\\_x", id="code keeps its backslashes"),
        pytest.param("```py\n# no heading\n*a*\n```\n*b*", "\n# no heading\n*a*\nb", id="fence"),
        pytest.param("````\n```\n````", "\n```\n", id="fence in a fence"),
        pytest.param("~~~\n- a\n", "\n- a\n\n", id="fence without an end"),
        pytest.param("| a | b |\n| --- | :-: |\n| c | d |", "  a   b  \n  c   d  ", id="table"),
        pytest.param(r"| a \| b | c |", "  a | b   c  ", id="pipe in a cell"),
        pytest.param("a | b", "a | b", id="pipe in a sentence"),
        pytest.param("text[^1]\n\n[^1]: note", "text\n\nnote", id="footnote"),
        pytest.param("[a]: https://example.org 'b'", "", id="address for later"),
        pytest.param("one<br>two  \nthree\\\nfour", "one\ntwo\nthree\nfour", id="breaks"),
        pytest.param("$a_1 * b_2$", "$a_1 * b_2$", id="formula"),
    ],
)  # fmt: skip
def test_marks_go_and_words_stay(plain_text: Callable[[str], str], markdown, expected):
    def lines(text: str) -> list[str]:
        return [" ".join(line.split()) for line in text.split("\n") if line.strip()]

    assert lines(plain_text(markdown)) == lines(expected)


@pytest.mark.parametrize(
    "unit",
    ["[", "![", "*", "**a", "_", "`", "[a](", "|", "> ", "- ", "\\", "~~", "[^", "<", "[a]:"],
)
def test_text_that_is_all_marks_is_read_to_its_end(plain_text: Callable[[str], str], unit):
    assert isinstance(plain_text(unit * 3_000), str)

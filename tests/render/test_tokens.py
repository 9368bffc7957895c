import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from searx_mcp.render.tokens import clip, estimate, fit, lines_within, share

LINES = st.lists(
    st.sampled_from(
        (
            "",
            "```",
            "```python",
            "````",
            "~~~",
            "~~~~ text",
            " ```",
            "word word. Word",
            "x",
            "`` ` ``",
        )
    ),
    max_size=30,
).map("\n".join)


@pytest.mark.parametrize(
    ("text", "measured"),
    [
        # Characters a token of the most wasteful tokenizer, docs/decisions/token-estimate.md.
        pytest.param("Каждый охотник желает знать, где сидит фазан. " * 50, 2.17, id="cyrillic"),
        pytest.param("يريد كل صياد أن يعرف أين يجلس طائر الدراج " * 50, 1.13, id="arabic"),
        pytest.param("每个猎人都想知道野鸡坐在哪里。" * 50, 0.82, id="han"),
        pytest.param("すべての狩人はキジがどこにいるか知りたい。" * 50, 0.90, id="japanese"),
        pytest.param(
            "The estimate is made so that a text never costs more than it says, "
            "whatever the model that reads it in the end. " * 50,
            3.87,
            id="english",
        ),
    ],
)
def test_an_estimate_is_not_below_the_most_wasteful_tokenizer_measured(text, measured):
    assert estimate(text) >= len(text) / measured


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        pytest.param("", 0, id="nothing"),
        pytest.param("word", 2, id="rounded up"),
        pytest.param("a" * 23, 7, id="a long word"),
        pytest.param("deadbeef" * 3, 24, id="a hash costs its characters"),
        pytest.param("2024", 4, id="digits"),
        pytest.param("\n\n", 2, id="line breaks"),
        pytest.param("日本", 3, id="han"),
        pytest.param("한국", 3, id="hangul"),
        pytest.param("😀", 4, id="emoji"),
        pytest.param("\ud800", 2, id="a lone surrogate"),
    ],
)
def test_an_estimate_adds_up_the_weights_of_the_scripts(text, tokens):
    assert estimate(text) == tokens


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        pytest.param("word-" * 20, 24 + 11, id="words and marks"),
        pytest.param("a" * 23 + " ", 7, id="the longest word"),
        pytest.param("a" * 24, 24, id="too long for a word"),
        pytest.param("7" * 10, 10, id="digits"),
        pytest.param("\n" * 10, 10, id="line breaks"),
        pytest.param(" \t" * 50, 10, id="whitespace"),
        pytest.param("." * 100, 55, id="marks"),
        pytest.param("ж" * 100, 60, id="Cyrillic"),
        pytest.param("ع" * 100, 120, id="Arabic"),
        pytest.param("漢" * 100, 130, id="Han"),
        pytest.param("é" * 100, 100, id="Latin with accents"),
        pytest.param("ย" * 100, 150, id="Thai"),
        pytest.param("😀" * 10, 40, id="emoji"),
    ],
)
def test_a_script_costs_what_the_decision_says(text, tokens):
    """`docs/decisions/token-estimate.md`."""
    assert estimate(text) == tokens


@given(st.text(max_size=200), st.text(max_size=200))
def test_parts_joined_by_whitespace_never_cost_more_than_the_parts(first, second):
    assert estimate(f"{first}\n{second}") <= estimate(first) + 1 + estimate(second)


@given(st.text(max_size=200), st.integers(0, 100))
def test_a_limited_estimate_stops_just_above_the_limit(text, limit):
    assert estimate(text, limit=limit) == min(estimate(text), limit + 1)


@given(st.text(max_size=400), st.integers(-3, 200))
@example("deadbeef" * 30, 25)
def test_a_clipped_text_is_a_beginning_within_the_budget(text, budget):
    shown, was_cut = clip(text, budget)
    assert text.startswith(shown)
    assert was_cut == (shown != text)
    assert estimate(shown) <= max(budget, 0)


@pytest.mark.parametrize(
    ("text", "budget", "shown"),
    [
        pytest.param(
            "One two.\n\nThree four. Five six seven", 9, "One two.\n\nThree four.", id="sentence"
        ),
        pytest.param("aaaa bbbb cccc.\n\ndddd eeee ffff", 9, "aaaa bbbb cccc.", id="paragraph"),
        pytest.param("aaaa bbbb\ncccc dddd eeee", 5, "aaaa bbbb", id="line"),
        pytest.param("aaaa bbbb cccc dddd", 3, "aaaa bbbb", id="word"),
        pytest.param(
            "aaaa bbbb.\n\n# Cccc\n\ndddd eeee ffff", 9, "aaaa bbbb.", id="before a heading"
        ),
        pytest.param("1. aaaa bbbb.\n22. cccc dddd", 8, "1. aaaa bbbb.", id="before an item"),
        pytest.param("# Aaaa bbbb\n\ncccc dddd", 6, "# Aaaa bbbb", id="heading alone"),
        pytest.param("一二三。四五六七", 8, "一二三。", id="sentence without spaces"),
        pytest.param("一二三四五六七", 4, "一二三", id="nothing to cut at"),
    ],
)
def test_a_text_is_cut_where_something_ends(text, budget, shown):
    assert clip(text, budget) == (shown, True)


def test_a_cut_code_block_is_closed_with_its_own_fence():
    text = "Intro\n\n~~~~python\n" + "value = compute()\n" * 40 + "~~~~\n"
    shown, end = fit(text, 60)
    assert shown == f"{text[:end]}\n~~~~"
    assert shown.endswith("compute()\n~~~~")
    assert estimate(shown) <= 60


def test_a_cut_code_block_in_a_list_is_closed_inside_the_list():
    text = "- ```js\n" + "  compute();\n" * 40 + "  ```\n- next"
    shown, _ = fit(text, 60)
    assert shown.endswith("\n  compute();\n  ```")


def test_a_closed_code_block_in_a_list_is_left_alone():
    shown, _ = fit("1. ```js\n   compute();\n   ```\n\n" + "word " * 100, 40)
    assert shown.endswith("word")


def test_a_cut_after_a_closed_code_block_adds_nothing():
    shown, _ = fit("```\nx\n```\n\n" + "word " * 100, 30)
    assert shown.count("```") == 2


@given(LINES, st.integers(0, 60))
def test_markdown_is_never_left_inside_a_code_block(text, budget):
    """The oracle is a Markdown parser: what follows the cut text must be a paragraph of its own."""
    shown, end = fit(text, budget)
    assert estimate(shown) <= budget
    assert shown.startswith(text[:end])
    if end < len(text):
        tokens = MarkdownIt().parse(f"{shown}\n\nSENTINEL")
        assert [token.content for token in tokens if token.type == "inline"][-1] == "SENTINEL"


@given(st.lists(st.integers(0, 500), max_size=12), st.integers(0, 2_000))
def test_room_is_shared_evenly_and_never_beyond_need(needs, room):
    grants = share(needs, room)
    assert sum(grants) <= room
    assert all(grant <= need for grant, need in zip(grants, needs, strict=True))
    hungry = [grant for grant, need in zip(grants, needs, strict=True) if grant < need]
    if hungry:
        assert max(grants) - min(hungry) <= 1
        assert sum(grants) == room


def test_a_line_too_long_is_skipped_and_shorter_ones_still_taken():
    lines, spent = lines_within(iter(["word", "word " * 50, "more"]), 6)
    assert lines == ("word", "more")
    assert spent == 6


@settings(max_examples=settings().max_examples // 4)  # each measures long texts
@given(
    st.text(max_size=19)
    | st.sampled_from(("a1" * 9, "é\u2019\u0639\u0639", "\u3000漢 x", "ab" * 13))
)
def test_a_long_text_costs_what_its_lines_cost(text):
    line = f"{text}\n"
    hundredths = estimate(line * 100)
    assert estimate(line * 777) == -(-hundredths * 777 // 100)
    assert estimate(f"{'b' * 5_000}\n{line * 777}") == -(
        -(hundredths * 777 + 5_000 * 100 + 100) // 100
    )

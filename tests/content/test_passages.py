"""The passages of a text, ranked by how well they fit a question."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from searx_mcp.content.outline import Span, headings
from searx_mcp.content.passages import Match, Words, rank, score_all
from searx_mcp.content.words import terms


def relevant(markdown, outline, question) -> list[Span]:
    return [each.span for each in rank(markdown, outline, question) if each.score]


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("How do I set timeouts?", "## Configure"),
        ("package manager", "### Linux"),
        ("licence", "# Licence"),
        ("install on LINUX", "### Linux"),
        ("everything", "Before everything."),
    ],
)
def test_the_passage_that_fits_best_comes_first(manual: str, question: str, first: str):
    best = relevant(manual, headings(manual), question)[0]
    assert manual[best.start : best.end].strip().startswith(first)


@pytest.mark.parametrize("question", ["", "zebra", "???", "the"])
def test_without_a_word_of_the_question_there_is_no_passage(question: str):
    text = "The one.\n\n# A\n\nThe other.\n\n# B\n\nThe third."
    assert relevant(text, headings(text), question) == []


def test_a_word_of_the_heading_counts_for_all_that_stands_under_it():
    text = "# Cats\n\n" + "They sleep. " * 200 + "\n\n# Dogs\n\n" + "They bark. " * 200
    found = relevant(text, headings(text), "dogs")
    assert {span.path for span in found} == {("Dogs",)}
    assert len(found) > 1


def test_only_passages_with_a_word_of_the_question_have_a_score():
    text = "\n\n".join(f"Filler sentence {number} without the word." for number in range(300))
    text = text.replace("sentence 50 ", "needle 50 ").replace("sentence 250 ", "needle 250 ")
    found = relevant(text, (), "needle")
    assert len(found) == 2
    assert all("needle" in text[span.start : span.end] for span in found)


FILLER = "Something else altogether is said in this paragraph.\n\n"


QUESTIONS = {
    "endings": ("prices", "The price is three.", "The priest is here."),
    "stop words": ("what is the price of it", "A price of three.", "What it is, and what of it."),
    "pairs": (
        "retry limit",
        "The retry limit is five for a call at night.",
        "Retry slowly: size has a limit, sky a limit, and retry again.",
    ),
    "coverage": (
        "cheap boat tickets",
        "The boat that leaves for the islands in the morning is cheap, and so are its tickets.",
        "Tickets, tickets. A boat, a boat.",
    ),
    "kana": ("ガス 料金", "電気とガスの料金は三千円です。", "電気の設備の説明です。"),
    "Han": ("退款政策", "退款的政策是七天之内。", "公司的历史和地址。"),
    "Thai": ("ราคาตั๋ว", "ราคาตั๋วเรือคือสามสิบบาท", "เรือออกจากท่าทุกวัน"),
    "accents": ("warmepumpe", "Die Wärmepumpe ist leise.", "Die Warte ist leise."),
}


@pytest.mark.parametrize(("question", "wanted", "other"), QUESTIONS.values(), ids=QUESTIONS)
@pytest.mark.parametrize("is_first", [True, False])
def test_a_passage_fits_better(question: str, wanted: str, other: str, *, is_first: bool):
    parts = (wanted, other) if is_first else (other, wanted)
    text = "".join(
        f"# {letter}\n\n{part}\n\n{FILLER}" for letter, part in zip("AB", parts, strict=True)
    )
    text += "".join(f"# {letter}\n\n{FILLER}" for letter in "CDEF")
    best = rank(text, headings(text), question)[0].span
    assert wanted in text[best.start : best.end]


@pytest.mark.parametrize(
    ("block", "parts"),
    [
        pytest.param("```\n" + "x = 1\n\n" * 200 + "```\n", 1, id="code with blank lines"),
        pytest.param("```\n" + "x = 1\n" * 800 + "```\n", 3, id="code that is too long"),
        pytest.param("| a | b |\n| - | - |\n" + "| One. | Two. |\n" * 60, 1, id="a table"),
        pytest.param("| a | b |\n| - | - |\n" + "| One. | Two. |\n" * 120, 2, id="a long table"),
        pytest.param("A sentence of it. " * 120 + "\n", 2, id="a long paragraph"),
    ],
)
def test_a_block_is_torn_only_where_it_is_too_long(block: str, parts: int):
    text = f"# A\n\n{FILLER * 12}{block}\n{FILLER * 12}The needle."
    start, end = text.index(block), text.index(block) + len(block)
    spans = sorted((each.span for each in rank(text, headings(text), "needle")), key=spot)
    inside = [span for span in spans if span.start < end and span.end > start]
    assert len(inside) == parts
    cuts = [text[: span.end] for span in inside[:-1]]
    assert all(cut.endswith("\n" if block[0] in "`|" else (".", " ")) for cut in cuts)


def spot(span: Span) -> int:
    return span.start


def test_a_heading_stays_with_what_it_heads():
    text = f"# A\n\n## B\n\n### C\n\n{FILLER * 30}# D\n\nThe needle."
    spans = sorted((each.span for each in rank(text, headings(text), "needle")), key=spot)
    assert spans[0].path == ("A", "B", "C")
    assert text[spans[0].start : spans[0].end].startswith("# A\n\n## B\n\n### C\n\nSomething")
    assert text[spans[-1].start :] == "# D\n\nThe needle."


def test_an_announcement_stays_with_what_it_announces():
    steps = "* Turn the needle.\n" + "* Wait for it to stop.\n" * 25
    text = f"# A\n\n{FILLER * 3}Do this:\n\n{steps}\n{FILLER * 10}"
    best = rank(text, headings(text), "needle")[0].span
    assert text[best.start : best.end].startswith("Do this:\n\n* Turn the needle.")


def test_behind_what_fits_comes_what_stands_near_it():
    text = "".join(f"# {n}\n\n{'The needle.' if n == 6 else 'Hay.'}\n\n" for n in range(10))
    ranked = rank(text, headings(text), "needle")
    assert [each.span.path for each in ranked[:5]] == [("6",), ("5",), ("7",), ("4",), ("8",)]
    assert [each.score > 0 for each in ranked] == [True] + [False] * 9


def test_words_of_han_and_kana_are_found():
    text = "# 概要\n\nこれは説明です。\n\n# 設定\n\n時間の制限を秒で書く。\n\n# 終\n\nおわり。"
    found = relevant(text, headings(text), "制限")
    assert text[found[0].start :].startswith("# 設定")


PIECES = ["# A\n", "## B\n", "cat ", "dog. ", "\n\n", "漢字。", "```\n", "| a |\n", "x" * 900]


@given(st.lists(st.sampled_from(PIECES), max_size=60))
def test_passages_are_the_whole_text(pieces: list[str]):
    text = "".join(pieces)
    ranked = rank(text, headings(text), "cat 漢")
    if ranked:
        spans = sorted((each.span for each in ranked), key=spot)
        assert "".join(text[span.start : span.end] for span in spans) == text
        assert [each.score for each in ranked] == sorted((e.score for e in ranked), reverse=True)


@pytest.mark.parametrize(
    "unit", ["a", " ", ". ", "\n", "字", "a\n\n", "# a\n", "|a\n", "```\na\n\n"]
)
def test_hostile_text_is_searched_too(unit: str):
    text = unit * 20_000
    rank(text, headings(text), "a b 字")


def scored(*texts: str, question: str, path: tuple[str, ...] = (), **known) -> list[float]:
    return [each.score for each in score_all([(text, path) for text in texts], question, **known)]


@pytest.mark.parametrize(
    ("question", "better", "worse"),
    [
        pytest.param("retry limit", "The retry limit is five.", "We retry five times.", id="more"),
        pytest.param("retry limit", "A retry limit.", "A limit; we retry.", id="side by side"),
        pytest.param("limit", "A limit, a limit.", "A limit, a sky.", id="more often"),
        pytest.param("limit", "A limit.", "A limit. " + FILLER * 9, id="in less text"),
        pytest.param("zebra the limit", "A zebra.", "The limit.", id="a rarer word"),
    ],
)
def test_the_score_of_a_text_rises_with_what_it_has_of_the_question(question, better, worse):
    first, second, *_ = scored(better, worse, *["The limit of it."] * 5, question=question)
    assert 1 >= first > second > 0


@pytest.mark.parametrize(
    "question", ["retry limit", "the limit of retries?", "漢字 limit", "zebra", "", "the"]
)
@pytest.mark.parametrize("weights", [None, {"limit": 2.0, "retry": 0.5}])
def test_a_text_whose_words_are_known_scores_as_the_text_itself(question, weights):
    parts = [
        ("The retry limit is five. Limits of retries.", ("Limits", "On retry")),
        ("漢字の話。 The [limit](https://limit.example/) of it.", ()),
        ("Nothing of it.", ("Retry limit",)),
        ("x", ()),
    ]
    known = [Words(terms(text), terms(" ".join(path)), len(text)) for text, path in parts]
    of_texts = score_all(parts, question, weights=weights)
    assert score_all(known, question, weights=weights) == of_texts


def test_a_heading_above_counts_for_the_text():
    under = scored("They sleep.", "They bark.", question="cats", path=("Animals", "Cats"))
    assert min(under) > 0
    assert scored("They sleep.", question="cats") == [0.0]


def test_coverage_is_the_share_of_the_question_by_the_weight_of_its_words():
    weights = {"timeou": 3.0, "second": 1.0}
    parts = [("A timeout.", ()), ("Two seconds.", ()), ("Timeouts in seconds.", ()), ("No.", ())]
    found = score_all(parts, "timeouts, seconds?", weights=weights)
    assert [each.coverage for each in found] == [0.75, 0.25, 1.0, 0.0]
    assert found[3] == Match(0.0, 0.0)


def test_a_page_of_one_part_has_a_score_too():
    (alone,) = scored("The retry limit is five.", question="retry limit")
    (half,) = scored("The retry limit is five.", question="retry zebra")
    assert alone > 0.4 > half > 0


@pytest.mark.parametrize("question", ["", "???", "zebra"])
def test_without_a_word_of_the_question_every_score_is_nothing(question: str):
    assert scored("The one.", "", question=question) == [0.0, 0.0]
    assert score_all([], question) == []


@given(
    st.lists(st.text(alphabet="ab \u6f22\u5b57.#\n", max_size=40), max_size=8),
    st.text(alphabet="ab \u6f22\u5b57", max_size=12),
    st.none() | st.floats(0, 1e300),
)
def test_scores_are_shares(texts: list[str], question: str, weight: float | None):
    weights = None if weight is None else {"a": weight, "\u6f22\u5b57": 1.0}
    found = score_all([(text, ("a",)) for text in texts], question, weights=weights)
    assert all(0 <= each.score <= 1 and 0 <= each.coverage <= 1 for each in found)
    assert all((each.score > 0) >= (each.coverage > 0) for each in found)

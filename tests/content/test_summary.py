"""Which sentences a summary is made of."""

import importlib
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from searx_mcp.content.summary import digest, summarize

PAGE = """# Otters of the coast

Otters live along the coast and eat fish. They sleep in the water and hold hands.

- [Home](https://e.org/) | [About](https://e.org/about)
- Their fur is the densest of all animals on earth.

| Table | of numbers that no one reads. |
| --- | --- |

```python
print("This is code, and no sentence at all.")
```

> A quoted sentence about fishing boats stands here. Read more.

Otters live along the coast and eat fish! Hunters once killed nearly all of them for the fur.
"""


def test_only_prose_is_chosen_and_nothing_twice():
    summary = summarize(PAGE, max_chars=2_000)
    for left_out in ("#", "Home", "Table", "print", "Read more", "fish!", "> "):
        assert left_out not in summary
    assert "A quoted sentence about fishing boats stands here." in summary


@pytest.mark.parametrize(
    ("text", "first"),
    [
        (
            "Dr. Smith met Mr. Jones at noon. They had tea together.",
            "Dr. Smith met Mr. Jones at noon.",
        ),
        (
            "Use tools, e.g. a hammer, for it. Then rest a while.",
            "Use tools, e.g. a hammer, for it.",
        ),
        (
            "It costs 3.50 in J. R. Smith's shop. Pay there in cash.",
            "It costs 3.50 in J. R. Smith's shop.",
        ),
        (
            "The pkg. holds many small files. It is big enough now.",
            "The pkg. holds many small files.",
        ),
        ("He said \u201cgo away now.\u201d She left the room.", "He said \u201cgo away now.\u201d"),
        ("今日は天気がいいです。明日は雨が降ります。", "今日は天気がいいです。"),
        ("这是第一个句子\uff01这是第二个句子\uff1f", "这是第一个句子\uff01"),
        ("یہ پہلا جملہ ہے\u06d4 یہ دوسرا جملہ ہے\u06d4", "یہ پہلا جملہ ہے\u06d4"),
        ("यह पहला वाक्य है। यह दूसरा वाक्य है।", "यह पहला वाक्य है।"),
    ],
)
def test_sentences_end_where_a_reader_ends_them(text: str, first: str):
    assert summarize(text, max_chars=len(first)) == first


def test_a_sentence_that_does_not_fit_is_cut_at_a_word():
    text = "word " * 40 + "end."
    assert summarize(text, max_chars=22) == "word word word word…"
    assert summarize("字" * 100, max_chars=10) == "字" * 9 + "…"


@pytest.mark.parametrize(
    "text", ["", "# Heading only here now", "```\nnever closed code.", "One two."]
)
def test_without_prose_there_is_no_summary(text: str):
    assert summarize(text, query="code", max_chars=100) == ""


SENTENCES = st.lists(
    st.sampled_from(
        ["The cat sat on the mat.", "Why do dogs bark at night?", "これは日本語の文です。"]
    ),
    max_size=12,
)


@given(SENTENCES, st.sampled_from(["", "cat", "dogs night", "文"]), st.integers(50, 300))
def test_a_summary_is_short_and_verbatim(sentences: list[str], query: str, max_chars: int):
    text = "\n".join(sentences)
    summary = summarize(text, query=query, max_chars=max_chars)
    assert len(summary) <= max_chars
    rest = summary
    for sentence in sorted(set(sentences), key=len, reverse=True):
        rest = rest.replace(sentence, "")
    assert not rest.strip()


@given(st.text(), st.text(), st.integers(50, 500))
def test_any_text_has_a_summary_within_the_bound(text: str, query: str, max_chars: int):
    summary = summarize(text, query=query, max_chars=max_chars)
    assert len(summary) <= max_chars
    assert summary == summarize(text, query=query, max_chars=max_chars)


LONG = " ".join(f"Sentence number {n} speaks of subject{n} and nothing else." for n in range(30))


SHOWN = {
    "links": (
        "See [the whole manual](https://e.org/a_(b)) before you begin.",
        "See the whole manual before you begin.",
    ),
    "links around code": (
        "See [the `open()` function](https://e.org/a) and [`a[0]`](https://e.org/b) first.",
        "See the `open()` function and `a[0]` first.",
    ),
    "links around images and brackets": (
        "[![a map](https://e.org/m.png)](https://e.org/m) It shows [all [1] of it](https://e.org/) here.",
        "It shows all [1] of it here.",
    ),
    "emphasis around code": (
        "**`name`: of the field** and *`f(*a)`* are both given.",
        "`name`: of the field and `f(*a)` are both given.",
    ),
    "an escaped mark behind a stop": (
        "It costs $45 an hour.\\* Others take more than that.",
        "It costs $45 an hour.\\* Others take more than that.",
    ),
    "prices without a word": ("1 299,00 € 1 449,00 € 1 258,90 €", ""),
    "captions": ("[caption: Otters hold hands. Photo by [Jo](https://e.org/).]", ""),
    "who owns the page": ("\u00a9 2026, The Roasting Company of Old.", ""),
    "footnotes": (
        "The tower was moved.[^1] It stands inland now, they say.[^n]",
        "The tower was moved. It stands inland now, they say.",
    ),
    "emphasis": (
        "**Both words** of *this line* are ~~not~~ marked.",
        "Both words of this line are not marked.",
    ),
    "images": ("Here [image: a map] is a picture of it.", "Here is a picture of it."),
    "code": (
        "Call `f(*args, **more)` and `a[0](x)` with three words.",
        "Call `f(*args, **more)` and `a[0] (x)` with three words.",
    ),
    "callout": ("\u26a0\ufe0f WARNING: never touch the hot lid.", "never touch the hot lid."),
    "bold callout": (
        "\u26a0\ufe0f **WARNING:** never touch the hot lid.",
        "never touch the hot lid.",
    ),
    "task": ("- [x] Buy bread and butter today.", "Buy bread and butter today."),
    "escapes": ("Two \\*stars\\* stay in the text.", "Two \\*stars\\* stay in the text."),
    "mathematics": (
        "It costs $5 \\times x^2$ for each of them.",
        "It costs $5 \\times x^2$ for each of them.",
    ),
    "wrapped lines": (
        "This line was wrapped at the margin of a plain\ntext and goes on here.",
        "This line was wrapped at the margin of a plain text and goes on here.",
    ),
    "mathematics set apart": ("$$\nx = a + b + c\n$$", ""),
    "what announces": ("**Answer by bread crumb today:**", ""),
}


@pytest.mark.parametrize(("text", "shown"), SHOWN.values(), ids=SHOWN)
def test_a_sentence_is_shown_in_its_words(text: str, shown: str):
    assert summarize(text, max_chars=500) == shown


@pytest.mark.parametrize(
    "text",
    [
        "Four words and [a](https://e.org/\\)![b](https://e.org/p.png) more.",
        "Four words and more \\![a][^1](https://e.org/p.png) here.",
        "Four words [a][^1](javascript:x) and more here.",
        "Four words ![a[^2]](https://e.org/p.png) and more here.",
        "Four words [*b*](https://e.org)(https://e.org/q) here.",
    ],
)
def test_no_link_or_image_comes_out_of_taking_marks_away(text: str):
    summary = summarize(text, max_chars=500)
    assert "](" not in summary
    assert "![" not in summary


TABLE = """# Tent

A tent for two people and three seasons of the year.

| Property | Value |
| --- | --- |
| Weight | 2.15 kg |
| Packed size | 46 cm |
"""


def test_the_row_of_a_table_may_answer_a_question():
    assert summarize(TABLE, query="tent weight", max_chars=20) == "Weight: 2.15 kg"
    assert "2.15" not in summarize(TABLE, max_chars=500)


def test_key_points_are_sentences_of_different_paragraphs_in_order():
    page = "\n\n".join(
        f"Point {n} tells of {thing} and how it came. It goes on about {thing} for a while."
        for n, thing in enumerate(("bread", "salt", "iron", "glass", "paper", "wool", "wood"))
    )
    points = digest(page, max_chars=500).key_points
    assert len(points) == 5
    assert sorted(points, key=page.index) == list(points)
    paragraphs = [next(p for p in page.split("\n\n") if point in p) for point in points]
    assert len(set(paragraphs)) == 5


def test_key_points_are_few_where_there_is_little_to_say():
    assert digest(
        "One sentence that is alone here.\n\nOne sentence that is alone here.", max_chars=500
    ).key_points == ("One sentence that is alone here.",)
    assert digest("", max_chars=500).key_points == ()


ITEMS = (
    "- Scans the whole table from its beginning\n- Only usable for conditions of equality (see 3)\n"
    "- It is important that keys are unique.\n- Needs no index at all to be there"
)


LEAD = "Otters live along the coast and eat fish."
FUR, HUNTERS = (
    "Their fur is the densest of all animals on earth.",
    "Hunters once killed nearly all of them for the fur.",
)
HOURS = (
    "Some first words about nothing much.\n\n## Opening hours\n\nFrom nine to five on weekdays."
    "\n\n## Prices\n\nFour euros for grown people."
)
YEARS = "In the end the move of the tower took 3 years."
DEEP = "The lost key lies under the green stone."
POWER = "発電所の建設費は六億円でした。"
FINE = "ผู้ที่ทำผิดครั้งแรกถูกปรับสองพันบาทและเงินค่าปรับเข้ากองทุนการศึกษาของเด็กในหมู่บ้าน"
THAI = f"วันนี้อากาศดีมากจนทุกคนในหมู่บ้านออกมาเดินเล่นริมทะเลกันตั้งแต่เช้าจนเย็น {FINE}"


@pytest.mark.parametrize(
    ("text", "query", "summary"),
    [
        pytest.param(PAGE, "", LEAD, id="the beginning"),
        pytest.param(PAGE, "zebra", LEAD, id="the beginning, if it does not know"),
        pytest.param(PAGE, "dense fur of animals", FUR, id="what answers"),
        pytest.param(PAGE, "hunters killed all for fur", f"{FUR} {HUNTERS} ".ljust(121), id="in the order of the page"),
        pytest.param(HOURS, "opening hours", "From nine to five on weekdays.", id="below a heading"),
        pytest.param(
            f"The move of the tower was said to be dear.\n\n{YEARS}", "how long did the move of the tower take", YEARS,
            id="a figure",
        ),
        pytest.param(f"{LONG}\n\n" * 40 + f"{DEEP}\n\n" + f"{LONG}\n\n" * 9, "lost key", DEEP, id="deep in the page"),
        pytest.param(f"天気の話です。{POWER}庭の花が咲きました。", "建設費", POWER, id="Japanese"),
        pytest.param(THAI, "ค่าปรับ", FINE, id="Thai"),
        pytest.param(
            ITEMS, "", "Scans the whole table from its beginning; Only usable for conditions of equality (see 3);"
            " It is important that keys are unique. Needs no index at all to be there".ljust(400),
            id="items without an end of their own",
        ),
    ],
)  # fmt: skip
def test_a_summary_of_a_length_is(text: str, query: str, summary: str):
    """Spaces at the end of a summary stand for room that it does not use."""
    assert summarize(text, query=query, max_chars=len(summary)) == summary.rstrip()


def test_very_long_runs_of_stops_are_read_in_one_go():
    assert summarize("!" * 30_000 + "[x] four words are enough.", max_chars=50).endswith("…")


def test_where_there_are_sentences_what_does_not_end_like_one_is_left_out():
    page = (
        "An index finds the rows of a table.\n\nIt costs time when rows are written.\n\n"
        f"Last edited by hand today:\n\n{ITEMS}\n\n- This row was cut in the middle of ..."
        "\n\nSee https://e.org/index/of/all for more of it."
    )
    assert summarize(page, max_chars=400) == (
        "An index finds the rows of a table. It costs time when rows are written."
        " It is important that keys are unique."
    )
    assert "Scans the whole table" in summarize(page, query="scans table", max_chars=60)


def test_a_list_of_headings_is_told_by_them():
    page = "\n".join(
        f"- #### {title}"
        for title in (
            "Ships sail faster with new engines",
            "Ports close for the whole winter",
            "Crews ask for longer rests",
        )
    )
    assert summarize(page, max_chars=400) == (
        "Ships sail faster with new engines; Ports close for the whole winter; Crews ask for longer rests"
    )


DESCRIBED = "How otters live along the coast, what they eat in the water, and why hunters killed them for the fur."


@pytest.mark.parametrize(
    ("description", "query", "leads"),
    [
        (DESCRIBED, "", True),
        (DESCRIBED, "dense fur", False),
        ("The best offers for fishing boats, nets, ropes and harbours of every size.", "", False),
        ("All about otters.", "", False),
        (DESCRIBED.removesuffix(".") + " ...", "", False),
        ("", "", False),
    ],
    ids=["true", "asked", "of something else", "a motto", "cut off", "none"],
)
def test_a_description_leads_where_the_text_says_the_same(
    description: str, query: str, *, leads: bool
):
    summary = summarize(PAGE, query=query, description=description, max_chars=300)
    assert (bool(description) and summary.startswith(description)) is leads
    both = digest(PAGE, query=query, description=description, max_chars=300)
    assert both.summary == summary
    assert description not in both.key_points


@pytest.mark.parametrize("mark", ["?", "\uff1f", ":"])
def test_what_asks_or_announces_is_no_key_point(mark: str):
    page = f"What does an otter eat in winter{mark}\n\nOtters eat fish and crabs in winter, too."
    assert digest(page, query="otter winter", max_chars=500).key_points == (
        "Otters eat fish and crabs in winter, too.",
    )


def test_a_digest_has_the_summary_too():
    both = digest(PAGE, query="fur", title="Otters", max_chars=120)
    assert both.summary == summarize(PAGE, query="fur", title="Otters", max_chars=120)


@given(st.text(), st.text())
def test_any_text_has_key_points_within_their_bounds(text: str, query: str):
    points = digest(text, query=query, max_chars=500).key_points
    assert len(points) <= 5
    assert all(point.strip() for point in points)


ROOT = Path(__file__).parents[2]


@pytest.fixture
def benchmark(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(ROOT)
    return importlib.import_module("benchmarks.summaries")


def test_answers_are_found_far_more_often_than_at_the_beginning(benchmark: ModuleType):
    summary, points, three, fitting = benchmark.about_query(benchmark.texts())
    assert summary.share >= 0.93
    assert summary.later >= 0.9
    assert points.share >= 0.7
    assert summary.share > 3 * max(three.share, fitting.share)
    assert summary.chars <= benchmark.MAX_CHARS


def test_without_a_question_the_main_thing_is_said_as_often_as_at_the_beginning(
    benchmark: ModuleType,
):
    summary, points, three = benchmark.about_nothing(benchmark.texts())
    assert summary.share >= three.share
    assert points.share >= 0.75


def test_no_language_is_left_behind(benchmark: ModuleType):
    languages = {text.name[:2] for text in benchmark.texts()}
    assert len(languages) == 10
    for language in languages:
        own = [text for text in benchmark.texts() if text.name.startswith(language)]
        assert benchmark.about_query(own)[0].share >= 2 / 3, language


def test_each_answer_stands_once_in_its_text(benchmark: ModuleType):
    for text in benchmark.texts():
        assert all(text.markdown.count(find) == 1 for _, find in text.asked), text.name
        assert any(words in text.markdown for words in text.main), text.name

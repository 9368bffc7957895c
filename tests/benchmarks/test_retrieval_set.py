"""The labelled set for retrieval says what it claims to."""

from collections import Counter
from collections.abc import Callable
from types import ModuleType

import pytest

PAGE = """# Tides

Before all.

## Spring tide

Twice a month the sea rises most.

```text
## no heading
```

### When?

At new moon.

## Neap tide

At half moon."""


@pytest.fixture(scope="module")
def retrieval_set(load_benchmark: Callable[[str], ModuleType]) -> ModuleType:
    return load_benchmark("retrieval_set")


@pytest.fixture(scope="module")
def loaded(retrieval_set: ModuleType):
    return retrieval_set.load()


def test_there_are_enough_pages_and_questions_and_none_twice(loaded):
    assert len(loaded.pages) >= 55
    assert len(loaded.questions) >= 320
    assert len({each.id for each in loaded.questions}) == len(loaded.questions)
    assert len({each.question for each in loaded.questions}) == len(loaded.questions)
    assert sum(len(page.encode()) for page in loaded.pages.values()) < 1_000_000


def test_every_answer_stands_in_its_section_in_these_words(loaded):
    for each in loaded.questions:
        assert each.answer in loaded.section(each).text, each.id
        assert 20 <= len(each.answer) <= 200, each.id
        assert "\n" not in each.answer, each.id


def test_an_answer_stands_in_no_other_section_of_the_set(retrieval_set: ModuleType, loaded):
    texts = [
        section.text for page in loaded.pages.values() for section in retrieval_set.sections(page)
    ]
    for each in loaded.questions:
        assert sum(each.answer in text for text in texts) == 1, each.id


def test_every_page_is_asked_about_and_begins_with_its_title(retrieval_set: ModuleType, loaded):
    asked = Counter(each.page for each in loaded.questions)
    assert set(asked) == set(loaded.pages)
    assert min(asked.values()) >= 5
    assert max(asked.values()) <= 12
    for name, page in loaded.pages.items():
        paths = [section.path for section in retrieval_set.sections(page)]
        assert page.startswith("# "), name
        assert len(paths[0]) == 1, name
        assert len(set(paths)) == len(paths), name
        assert {path[0] for path in paths} == {paths[0][0]}, name


def test_questions_are_spread_over_sections(loaded):
    sections = Counter((each.page, each.section) for each in loaded.questions)
    assert len(sections) >= 0.7 * len(loaded.questions)
    assert max(sections.values()) <= 10


def test_there_are_questions_of_every_kind(retrieval_set: ModuleType, loaded):
    kinds = Counter(each.kind for each in loaded.questions)
    assert set(kinds) == {*retrieval_set.Kind}
    assert min(kinds.values()) >= 15


def test_there_are_pages_in_seven_languages(retrieval_set: ModuleType, loaded):
    languages = Counter(retrieval_set.language(name) for name in loaded.pages)
    assert set(languages) == {"en", "de", "fr", "es", "zh", "ja", "th"}
    assert languages.total() - languages["en"] >= 10


def test_three_in_ten_questions_have_little_in_common_with_their_section(
    retrieval_set: ModuleType, loaded
):
    same = [each for each in loaded.questions if each.kind != retrieval_set.Kind.CROSS_LINGUAL]
    for asked in (loaded.questions, same):
        low = sum(loaded.overlap(each) < retrieval_set.LOW for each in asked)
        assert low >= 0.3 * len(asked)


def test_sections_are_cut_at_every_heading_and_not_at_code(retrieval_set: ModuleType):
    assert [(each.path, each.text.splitlines()[0]) for each in retrieval_set.sections(PAGE)] == [
        (("Tides",), "Before all."),
        (("Tides", "Spring tide"), "Twice a month the sea rises most."),
        (("Tides", "Spring tide", "When?"), "At new moon."),
        (("Tides", "Neap tide"), "At half moon."),
    ]
    assert "## no heading" in retrieval_set.sections(PAGE)[1].text


@pytest.mark.parametrize(
    ("asked", "text", "expected"),
    [
        ("How high do tides rise?", "The tide rises, and it is highest at noon", 2 / 3),
        ("stopping installers", "the installer stopped", 1),
        ("cities studied", "a city that studies", 1),
        ("What is it that they do?", "What is it that they do?", 0),
        ("Wie lange dauert die Fahrt?", "Die Fahrt dauert lange", 1),
        ("桶的名称", "存储桶一经创建 名称不能修改", 1 / 3),
        ("ごみはいつ", "ごみの日", 0),
        ("tide 桶", "tide", 1 / 2),
    ],
)
def test_overlap_is_the_share_of_content_words(retrieval_set: ModuleType, asked, text, expected):
    pages = {"page.md": f"# Page\n\n{text}"}
    question = retrieval_set.Question(
        "1", asked, "page.md", ("Page",), text, retrieval_set.Kind.DIRECT
    )
    found = retrieval_set.RetrievalSet(pages, (question,))
    assert found.overlap(question) == pytest.approx(expected)


def test_headings_above_count_as_words_of_the_section(retrieval_set: ModuleType):
    question = retrieval_set.Question(
        "1",
        "spring tide moon pear",
        "page.md",
        ("Tides", "Spring tide", "When?"),
        "At new moon.",
        retrieval_set.Kind.DIRECT,
    )
    found = retrieval_set.RetrievalSet({"page.md": PAGE}, (question,))
    assert found.overlap(question) == pytest.approx(3 / 4)


def test_a_section_that_is_not_there_is_an_error(retrieval_set: ModuleType):
    question = retrieval_set.Question(
        "1", "when", "page.md", ("Tides", "Ebb"), "At noon.", retrieval_set.Kind.DIRECT
    )
    with pytest.raises(LookupError, match=r"page\.md has no section Tides > Ebb"):
        retrieval_set.RetrievalSet({"page.md": PAGE}, (question,)).section(question)


@pytest.mark.parametrize(
    ("name", "code"),
    [("bread.md", "en"), ("bread.de.md", "de"), ("bread-1.2.md", "en"), ("de.md", "en")],
)
def test_the_name_of_a_page_tells_its_language(retrieval_set: ModuleType, name, code):
    assert retrieval_set.language(name) == code

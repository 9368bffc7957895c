"""What the benchmark of the Markdown counts, and how it compares."""

import importlib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def load(monkeypatch):
    """Give a function that imports a module of the benchmark."""
    monkeypatch.syspath_prepend(str(ROOT))
    return lambda name: importlib.import_module(f"benchmarks.fidelity_scoring.{name}")


@pytest.mark.parametrize(
    ("markdown", "kind", "expected"),
    [
        pytest.param("```py\na  \nb\n```", "code", ["a\nb"], id="code"),
        pytest.param("```PY\na\n```", "code_with_language", ["py\na"], id="language"),
        pytest.param("~~~\na\n~~~\n\n    b\n", "code", ["a", "b"], id="other fences"),
        pytest.param("> ```\n> a\n> ```", "code", [], id="quoted code"),
        pytest.param("Let $ x $ cost $5 and $a + b$.", "math", ["a+b"], id="formula in a line"),
        pytest.param("$$\n\\frac{a} {b}\n$$", "math", ["\\frac{a}{b}"], id="formula of its own"),
        pytest.param("`$a$`\n\n```\n$b$\n```", "math", [], id="no formula in code"),
        pytest.param(
            "| a | [b](/x) |\n|--|--|\n| *c* | d |", "rows", ["a | b", "c | d"], id="rows"
        ),
        pytest.param("Words.[^1]\n\n[^1]: Note.", "references", ["words"], id="reference"),
        pytest.param("> [!note] Note\n> Mind it.", "callouts", ["note mindit"], id="callout"),
        pytest.param("> [!note]- Title\n> Mind it.", "callouts", ["note titlemindit"], id="title"),
        pytest.param("💡 NOTE: Mind it.", "callouts", ["note mindit"], id="label"),
        pytest.param(
            "> 💡 NOTE: Title\n>\n> Mind it.", "callouts", ["note titlemindit"], id="quote"
        ),
        pytest.param("> Said by somebody.", "callouts", [], id="quotation"),
    ],
)
def test_constructs_are_read_by_what_they_say(load, markdown, kind, expected):
    found = getattr(load("constructs").read(markdown), kind)
    assert sorted(found.elements()) == expected


def test_a_front_block_is_no_code(load):
    assert not load("constructs").read('```json\n{"title": "a"}\n```\n\nWords.').code


def test_scores_count_what_is_found_as_often_as_it_stands_there(load):
    score = load("scores").score({"a": "$x$ $x$ words", "b": "$y$"}, {"a": "$x$ words"})
    assert score.found["math"] == 1
    assert score.expected["math"] == 3
    assert 0 < score.f1 < 1


def test_what_is_missing_is_named(load):
    assert load("scores").missing("$x$ $y$", "$x$") == {"math": ["y"]}


def test_pages_are_read_with_their_expectation_and_address(load, tmp_path):
    for folder in ("fixtures", "expected"):
        (tmp_path / "tests" / folder).mkdir(parents=True)
    page = '<!-- {"url": "https://example.org/a"} --><p>a</p>'
    (tmp_path / "tests" / "fixtures" / "kind--a.html").write_text(page, encoding="utf-8")
    (tmp_path / "tests" / "fixtures" / "kind--b.html").write_text("<p>b</p>", encoding="utf-8")
    (tmp_path / "tests" / "expected" / "kind--a.md").write_text("a", encoding="utf-8")
    found = load("fixtures").fixtures(tmp_path)
    assert [(page.name, page.url, page.expected) for page in found] == [
        ("kind--a", "https://example.org/a", "a")
    ]


def test_a_folder_without_pages_is_refused(load, tmp_path):
    with pytest.raises(ValueError, match="has no tests/fixtures"):
        load("fixtures").fixtures(tmp_path)


def test_a_converter_that_fails_has_written_nothing(load):
    def fail(url, html):
        raise RecursionError

    assert load("converters").written(fail, {"a": ("https://example.org/", "")}) == {"a": ""}


def test_everything_of_our_own_cases_is_found(load):
    cases, converters, scores = (load(name) for name in ("cases", "converters", "scores"))
    pages = {name: ("https://example.org/page", html) for name, (html, _) in cases.CASES.items()}
    written = converters.written(converters.ours, pages)
    score = scores.score({name: text for name, (_, text) in cases.CASES.items()}, written)
    assert score.found == score.expected
    assert not [kind for kind in scores.KINDS if not score.expected[kind]]

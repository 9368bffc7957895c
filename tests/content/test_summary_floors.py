"""What summaries cover of questions that were written before any of them was made."""

import importlib
from pathlib import Path
from types import ModuleType

import pytest

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

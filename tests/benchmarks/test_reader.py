"""A candidate that fails, hangs or crashes costs its page, and nothing else."""

import multiprocessing
from collections.abc import Callable
from types import ModuleType

import pytest

PAGE = (
    b"<html><body><main><h1>Tides</h1><p>The sea comes <b>twice</b> a day.</p></main></body></html>"
)


@pytest.fixture(scope="module")
def reading(load_benchmark: Callable[[str], ModuleType]) -> ModuleType:
    return load_benchmark("extracting.reader")


@pytest.fixture(scope="module")
def ours(load_benchmark: Callable[[str], ModuleType]):
    candidates = load_benchmark("extracting.candidates")
    return candidates.CANDIDATES[candidates.OURS]


@pytest.mark.slow
def test_a_page_is_read_in_a_process_that_is_replaced_when_it_ends(reading: ModuleType, ours):
    with reading.Reader() as reader:
        first = reader.read(ours, PAGE, "https://example.org/")
        assert "The sea comes twice a day." in first.text
        assert not first.error
        (process,) = multiprocessing.active_children()
        process.kill()
        process.join()
        assert reader.read(ours, PAGE, "https://example.org/").error == "ended its process"
        assert reader.read(ours, PAGE, "https://example.org/").text == first.text
    assert not multiprocessing.active_children()


@pytest.mark.slow
def test_why_a_candidate_failed_is_told(reading: ModuleType, ours):
    with reading.Reader() as reader:
        found = reader.read(ours, b"<html><body></body></html>", "https://example.org/")
    assert found.text == ""
    assert found.error.startswith("ContentError: ")


def test_peers_that_are_not_installed_are_left_out_or_refused(
    load_benchmark: Callable[[str], ModuleType],
):
    candidates = load_benchmark("extracting.candidates")
    ours = [candidates.OURS, candidates.UNCAPTIONED]
    assert [each.name for each in candidates.chosen("none")] == ours
    assert all(each.is_installed for each in candidates.chosen(None))
    with pytest.raises(ValueError, match="no such reader is no peer that is installed"):
        candidates.chosen("no such reader")

"""The layouts of annotated sets are recognised."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest


@pytest.fixture(scope="module")
def sets(load_benchmark: Callable[[str], ModuleType]) -> ModuleType:
    return load_benchmark("extracting.sets")


def _write(file: Path, value: object) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(value), encoding="utf-8")


def _zip(file: Path, body: bytes) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(gzip.compress(body))


def _wcxb(folder: Path, kind: object) -> None:
    _write(folder / "metadata.json", {"splits": {}})
    for split in ("dev", "test"):
        page = {
            "url": "https://example.org/a",
            "_internal": {"page_type": kind},
            "ground_truth": {"main_content": f"text of {split}", "with": ["text"], "without": None},
        }
        _write(folder / split / "ground-truth" / "0001.json", page)
        _zip(folder / split / "html" / "0001.html.gz", b"<p>page</p>")


def test_both_splits_of_wcxb_are_sets_of_their_own(sets: ModuleType, tmp_path: Path):
    _wcxb(tmp_path, {"primary": "forum"})
    dev, test = sets.page_sets(tmp_path)
    assert (dev.name, test.name) == ("wcxb-dev", "wcxb-test")
    (page,) = dev.pages
    assert (page.name, page.url, page.group) == ("0001", "https://example.org/a", "forum")
    assert (page.gold.text, page.gold.present, page.gold.absent) == ("text of dev", ("text",), ())
    assert page.read() == b"<p>page</p>"


def test_pages_of_the_test_split_that_dev_has_too_are_known(sets: ModuleType, tmp_path: Path):
    _wcxb(tmp_path, {"primary": "article"})
    for folder in ("ground-truth", "html"):
        for file in (tmp_path / "test" / folder).iterdir():
            file.with_name(file.name.replace("0001", "0002")).write_bytes(file.read_bytes())
    _zip(tmp_path / "test" / "html" / "0002.html.gz", b"<p>another page</p>")
    dev, test = sets.page_sets(tmp_path)
    assert [page.is_known for page in dev.pages] == [False]
    assert [page.is_known for page in test.pages] == [True, False]


def test_one_split_can_be_asked_for(sets: ModuleType, tmp_path: Path):
    _wcxb(tmp_path, {"primary": "article"})
    assert [each.name for each in sets.page_sets(tmp_path, split="test")] == ["wcxb-test"]


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        pytest.param({"primary": "category"}, "collection", id="an older word"),
        pytest.param("listing", "listing", id="a bare word"),
        pytest.param({}, "article", id="nothing said"),
    ],
)
def test_the_kind_of_a_page_is_read_as_the_set_does(sets: ModuleType, tmp_path: Path, said, kind):
    _wcxb(tmp_path, said)
    assert sets.page_sets(tmp_path)[0].pages[0].group == kind


def test_article_extraction_benchmark_is_recognised(sets: ModuleType, tmp_path: Path):
    _write(tmp_path / "ground-truth.json", {"ab12": {"articleBody": "body", "url": "https://a.b"}})
    _zip(tmp_path / "html" / "ab12.html.gz", b"<p>page</p>")
    (found,) = sets.page_sets(tmp_path)
    (page,) = found.pages
    assert found.name == "article-extraction"
    assert (page.url, page.gold.text, page.read()) == ("https://a.b", "body", b"<p>page</p>")


def test_the_set_of_trafilatura_is_recognised(sets: ModuleType, tmp_path: Path):
    item = {"file": "a.html", "with": ["x"], "without": ["y"]}
    _write(tmp_path / "tests" / "evaldata.json", {"https://a.b/": item})
    for folder in ("cache", "eval"):
        (tmp_path / "tests" / folder).mkdir()
        (tmp_path / "tests" / folder / "a.html").write_bytes(folder.encode())
    (found,) = sets.page_sets(tmp_path)
    (page,) = found.pages
    assert (page.url, page.gold.present, page.gold.absent) == ("https://a.b/", ("x",), ("y",))
    assert page.read() == b"cache", "the first folder wins, as in the set"


def test_a_sample_is_spread_over_the_set(sets: ModuleType, tmp_path: Path):
    _write(tmp_path / "ground-truth.json", {str(number): {} for number in range(10)})
    (found,) = sets.page_sets(tmp_path)
    assert [page.name for page in found.sample(3).pages] == ["0", "3", "6", "9"]
    assert len(found.sample(100).pages) == 10


def test_an_unknown_folder_is_refused_with_the_layouts_that_are_known(
    sets: ModuleType, tmp_path: Path
):
    with pytest.raises(ValueError, match=r"metadata\.json.*ground-truth\.json.*evaldata\.json"):
        sets.page_sets(tmp_path)

"""Pages of our own, of every kind and in many languages, keep the text they have reached.

`python -m benchmarks.extraction --quick` prints the scores, `scripts/pin_floors.py` pins them anew.
"""

import json
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from searx_mcp.models.page import PageKind

FOLDER = Path(__file__).resolve().parent
MANIFEST: dict[str, Any] = json.loads((FOLDER / "manifest.json").read_text("utf-8"))
PAGES = [pytest.param(at, id=Path(page["file"]).stem) for at, page in enumerate(MANIFEST["pages"])]

LICENCES = {"MIT", "MIT OR Apache-2.0"}
MEGABYTES = 4


@pytest.fixture(scope="session")
def examined(floors: ModuleType):
    """Give a function that examines the page at a place of the manifest, once."""
    pages = floors.load_floors(FOLDER).pages
    return cache(lambda at: floors.examine(pages[at], FOLDER))


@pytest.mark.parametrize("at", PAGES)
def test_a_page_and_its_content_are_those_that_were_pinned(floors: ModuleType, at):
    page = MANIFEST["pages"][at]
    assert floors.digest(FOLDER / page["file"]) == page["sha256"]
    assert floors.digest(FOLDER / page["gold"]) == page["gold_sha256"]


@pytest.mark.parametrize("at", PAGES)
def test_the_text_of_a_page_stays_at_its_floor_or_above(examined, at):
    assert examined(at).f1 >= MANIFEST["pages"][at]["floor"]


@pytest.mark.parametrize("at", PAGES)
def test_headings_sentences_snippets_and_metadata_are_kept_but_for_what_is_known(examined, at):
    assert set(examined(at).failures) <= set(MANIFEST["pages"][at]["known"])


def test_of_a_hundred_headings_of_all_pages_one_may_be_lost(floors: ModuleType, examined):
    assert floors.headings_kept(map(examined, range(len(PAGES)))) >= 0.99


@pytest.mark.parametrize("kind", list(PageKind))
def test_the_mean_of_a_kind_stays_at_its_floor_or_above(floors: ModuleType, examined, kind):
    found = floors.means(map(examined, range(len(PAGES))), floors.by_kind)
    assert found[kind] >= MANIFEST["kinds"][kind]


@pytest.mark.parametrize("language", sorted({page["language"] for page in MANIFEST["pages"]}))
def test_the_mean_of_a_language_stays_at_its_floor_or_above(floors: ModuleType, examined, language):
    found = floors.means(map(examined, range(len(PAGES))), floors.by_language)
    assert found[language] >= MANIFEST["languages"][language]


def test_there_are_pages_of_all_kinds_in_many_languages():
    assert len(PAGES) >= 60
    assert {page["kind"] for page in MANIFEST["pages"]} == set(PageKind)
    assert len({page["language"] for page in MANIFEST["pages"]}) >= 10


@pytest.mark.parametrize("at", PAGES)
def test_a_page_says_where_it_comes_from_and_what_is_asked_of_it(at):
    page = MANIFEST["pages"][at]
    html = (FOLDER / page["file"]).read_text("utf-8", errors="replace")
    assert page["source"]
    assert page["licence"] in LICENCES
    assert page["present"]
    assert page["floor"] >= 0.5 or page["reason"]
    assert all(snippet.replace("&", "&amp;") in html for snippet in page["absent"])


def test_the_folder_holds_what_the_manifest_names_and_is_small():
    named = {FOLDER / page[key] for page in MANIFEST["pages"] for key in ("file", "gold")}
    found = {*(FOLDER / "pages").iterdir(), *(FOLDER / "gold").iterdir()}
    assert found == named
    assert sum(file.stat().st_size for file in found) < MEGABYTES << 20

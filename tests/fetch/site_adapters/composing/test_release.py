"""Releases as Markdown."""

import pytest

from searx_mcp.content.fields import Fields
from searx_mcp.fetch.site_adapters.composing.release import PER_PAGE, write_all, write_one

BASE = "https://site.example/o/r"
RELEASE = {
    "tag_name": "v1.2.0",
    "name": "The second",
    "body": "# Changes\n\n- one",
    "draft": False,
    "prerelease": True,
    "created_at": "2025-12-31T00:00:00Z",
    "published_at": "2026-01-02T03:04:05Z",
    "author": {"login": "ann"},
    "assets": [
        {"name": "a.whl", "size": 2_048, "browser_download_url": "https://site.example/a.whl"},
        {"name": "b", "size": None, "browser_download_url": "javascript:alert(1)"},
        {},
    ],
}


def test_one_release_is_written():
    page = write_one(Fields(RELEASE), place="o/r", base=BASE)
    assert page.markdown == (
        "# o/r v1.2.0 The second\n\n- Tag: v1.2.0\n- State: pre-release\n- Published: 2026-01-02\n"
        "- Author: ann\n\n## Changes\n\n- one\n\nFiles:\n\n"
        "- [a.whl](https://site.example/a.whl), 2 KB\n- b\n- a file"
    )
    assert page.title == "o/r v1.2.0 The second"
    assert page.published == "2026-01-02T03:04:05Z"


@pytest.mark.parametrize(
    ("name", "shown"),
    [(None, "v1.2.0"), ("", "v1.2.0"), ("v1.2.0", "v1.2.0"), ("App v1.2.0", "App v1.2.0")],
)
def test_a_release_is_called_by_its_tag_and_name(name: object, shown: str):
    page = write_one(Fields({**RELEASE, "name": name}), place="o/r", base=BASE)
    assert page.title == f"o/r {shown}"


@pytest.mark.parametrize("found", [{}, {"tag_name": None}, {"tag_name": 3}, {"tag_name": ""}])
def test_a_release_has_a_tag(found: dict[str, object]):
    with pytest.raises(ValueError, match="no tag"):
        write_one(Fields(found), place="o/r", base=BASE)


@pytest.mark.parametrize(
    ("count", "is_whole", "is_cut"), [(2, True, False), (2, False, True), (PER_PAGE, True, True)]
)
def test_a_list_says_when_there_may_be_more(count: int, *, is_whole: bool, is_cut: bool):
    page = write_all([Fields(RELEASE)] * count, is_whole=is_whole, place="o/r", base=BASE)
    assert page.markdown.count("\n## v1.2.0") == count
    assert page.is_truncated is is_cut
    assert bool(page.notes) is is_cut


def test_no_releases_are_said_to_be_none():
    page = write_all([], is_whole=True, place="o/r", base=BASE)
    assert page.markdown == "# Releases of o/r\n\nThere are no releases."


def test_files_are_capped():
    assets = [{"name": f"f{n}"} for n in range(80)]
    page = write_one(Fields({**RELEASE, "assets": assets}), place="o/r", base=BASE)
    assert page.markdown.endswith("- f49\n- and 30 more files")

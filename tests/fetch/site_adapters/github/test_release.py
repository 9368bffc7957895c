"""Releases of GitHub."""

from collections.abc import Callable

import pytest

from searx_mcp.fetch.site_adapters.interface import Composed

RELEASE = {
    "tag_name": "v1.0",
    "name": "One",
    "body": "See [x](docs/x.md)",
    "published_at": "2026-01-02T00:00:00Z",
    "author": {"login": "ann"},
    "assets": [],
}


@pytest.mark.parametrize("path", ["latest", "tag/v1.0"])
def test_one_release_is_shown(read: Callable[..., Composed], path: str):
    page = read(f"https://github.com/o/r/releases/{path}", RELEASE)
    assert page.markdown == (
        "# o/r v1.0 One\n\n- Tag: v1.0\n- Published: 2026-01-02\n- Author: ann\n\n"
        "See [x](https://github.com/o/r/docs/x.md)"
    )


def test_the_newest_releases_are_shown(read: Callable[..., Composed]):
    page = read("https://github.com/o/r/releases", [RELEASE, {**RELEASE, "tag_name": "v0.9"}])
    assert page.markdown.startswith("# Releases of o/r\n\n## v1.0 One\n")
    assert "\n## v0.9 One\n" in page.markdown
    assert page.title == "Releases of o/r"


@pytest.mark.parametrize("body", ["", "<html>", [], {}, {"tag_name": 3}])
def test_another_answer_is_an_error(read: Callable[..., Composed], body: object):
    with pytest.raises(ValueError, match=r"."):
        read("https://github.com/o/r/releases/latest", body)


@pytest.mark.parametrize("body", ["", "<html>", {}, [{}], [{"tag_name": None}]])
def test_another_list_is_an_error(read: Callable[..., Composed], body: object):
    with pytest.raises(ValueError, match=r"."):
        read("https://github.com/o/r/releases", body)

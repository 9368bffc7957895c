"""Project pages of a package index."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from searx_mcp.fetch.site_adapters.interface import Composed, Material
from searx_mcp.fetch.site_adapters.pypi import MAX_DEPENDENCIES

URL = "https://pypi.example/project/sampleproject/"

# The example in the index's documentation (docs/user/api/json.md of pypi/warehouse), shortened.
INFO: dict[str, Any] = {
    "author": "",
    "author_email": '"A. Random Developer" <author@example.com>',
    "classifiers": ["License :: OSI Approved :: MIT License", "Programming Language :: Python"],
    "description": "# Sample\n\nSee [docs](docs/a.md). ![logo](a.png)",
    "description_content_type": "text/markdown; charset=UTF-8; variant=GFM",
    "home_page": "",
    "keywords": "sample, setuptools",
    "license": None,
    "license_expression": None,
    "name": "sampleproject",
    "project_urls": {"Homepage": "https://site.example/", "Evil": "javascript:alert(1)"},
    "requires_dist": ["check-manifest ; extra == 'dev'", "peppercorn"],
    "requires_python": ">=3.9",
    "summary": "A sample Python project",
    "version": "4.0.0",
    "yanked": False,
    "yanked_reason": None,
}
UPLOADS = [
    {"upload_time_iso_8601": "2024-11-06T22:37:10.868088Z"},
    {"upload_time_iso_8601": "2024-11-06T22:37:09.220617Z"},
]


def project(**changes: object) -> dict[str, object]:
    return {
        "info": {**INFO, **changes},
        "last_serial": 1,
        "releases": {},
        "urls": UPLOADS,
        "vulnerabilities": [],
    }


def test_a_project_is_shown_with_its_facts(read: Callable[..., Composed]):
    page = read(URL, project())
    assert page.markdown == (
        "# sampleproject 4.0.0\n\nA sample Python project\n\n- Licence: MIT License\n"
        "- Requires Python: >=3.9\n- Released: 2024-11-06\n"
        '- Author: "A. Random Developer" \\<author@example.com>\n- Keywords: sample, setuptools\n'
        "- Homepage: [https://site.example/](https://site.example/)\n- Evil: javascript:alert(1)\n\n"
        "## Dependencies\n\n- peppercorn\n- check-manifest ; extra == 'dev'\n\n## Sample\n\n"
        "See [docs](https://pypi.example/project/sampleproject/docs/a.md). [image: logo]"
    )
    assert page.title == "sampleproject 4.0.0"
    assert page.description == "A sample Python project"
    assert page.published == "2024-11-06T22:37:09.220617Z"
    assert page.content_type == "text/markdown"
    assert page.notes == ()


@pytest.mark.parametrize(
    ("kind", "text", "expected"),
    [
        ("text/markdown", "# A", "## A"),
        ("TEXT/Markdown", "# A", "## A"),
        ("text/x-rst", "A\n=\n\n``x``", "```rst\nA\n=\n\n``x``\n```"),
        (None, "A\n=", "```rst\nA\n=\n```"),
        ("", "A", "```rst\nA\n```"),
        (3, "A", "```rst\nA\n```"),
        ("text/plain", "# A", "```text\n# A\n```"),
        ("text/html", "<p>A<img src=x alt=i>", "A[image: i]"),
        ("text/x-rst", "```\n# x", "````rst\n```\n# x\n````"),
        ("text/x-rst", "``\u200b`", "````rst\n```\n````"),
        ("text/markdown", "", None),
        ("text/markdown", None, None),
        ("text/markdown", ["# A"], None),
    ],
)
def test_a_description_is_read_by_its_type(
    read: Callable[..., Composed], kind: object, text: object, expected: str | None
):
    page = read(URL, project(description_content_type=kind, description=text))
    if expected is None:
        assert page.markdown.endswith("check-manifest ; extra == 'dev'")
    else:
        assert page.markdown.endswith(f"\n\n{expected}")


@pytest.mark.parametrize(
    ("changes", "licence"),
    [
        ({"license_expression": "MIT OR Apache-2.0", "license": "x"}, "MIT OR Apache-2.0"),
        ({"license": "BSD"}, "BSD"),
        ({"license": "Permission is hereby granted\n" * 100}, "Permission is hereby granted"),
        ({}, "MIT License"),
        ({"classifiers": None}, None),
        ({"classifiers": ["License :: OSI Approved"]}, "OSI Approved"),
    ],
)
def test_the_licence_is_found_in_three_places(
    read: Callable[..., Composed], changes: dict[str, object], licence: str | None
):
    lines = read(URL, project(**changes)).markdown.split("\n")
    found = [line.removeprefix("- Licence: ") for line in lines if line.startswith("- Licence: ")]
    assert bool(found) is (licence is not None)
    for line in found:
        assert line.startswith(licence or "")
        assert len(line) <= 200


def test_dependencies_are_capped_with_those_of_extras_last(read: Callable[..., Composed]):
    wanted = [f"x{n}; extra == 'a'" for n in range(100)] + ["needed>=1"]
    lines = read(URL, project(requires_dist=wanted)).markdown.split("\n")
    start = lines.index("## Dependencies") + 2
    assert lines[start] == "- needed>=1"
    assert lines[start + MAX_DEPENDENCIES] == f"- and {101 - MAX_DEPENDENCIES} more"


@pytest.mark.parametrize(
    ("reason", "line"),
    [("broken\n# x", "- Yanked: broken # x\n"), (None, ""), (3, "")],
)
def test_a_yanked_release_says_so_and_why(read: Callable[..., Composed], reason: object, line: str):
    page = read(URL, project(yanked=True, yanked_reason=reason))
    assert page.notes == ("This release was yanked.",)
    assert line in page.markdown
    assert ("Yanked" in page.markdown) is bool(line)


def test_known_vulnerabilities_are_listed_unless_withdrawn(read: Callable[..., Composed]):
    answer = project()
    answer["vulnerabilities"] = [
        {"id": "PYSEC-1", "fixed_in": ["4.0.1"], "summary": "Bad *thing*", "withdrawn": None},
        {"id": "PYSEC-2", "fixed_in": [], "details": "Long\n\ntext " * 90},
        {"id": "PYSEC-3", "summary": "x", "withdrawn": "2024-01-01T00:00:00Z"},
        None,
        "x",
    ]
    page = read(URL, answer)
    assert page.notes == ("This release has 2 known vulnerabilities.",)
    assert "- PYSEC-1 (fixed in 4.0.1): Bad \\*thing\\*\n- PYSEC-2: Long text" in page.markdown
    assert "PYSEC-3" not in page.markdown


def test_a_long_list_of_releases_does_not_hide_the_project(
    read: Callable[..., Composed], answer: Callable[..., Material]
):
    whole = json.dumps(project(description_content_type="text/markdown"))
    cut = answer(whole[: whole.index('"urls"')], is_truncated=True)
    page = read(URL, cut)
    assert page.title == "sampleproject 4.0.0"
    assert "## Sample" in page.markdown
    assert page.published == ""


@pytest.mark.parametrize(
    "body",
    [
        "<html>",
        "",
        "[]",
        {},
        {"info": None},
        {"info": []},
        {"info": {"name": "x"}},
        {"info": {"name": 3, "version": 4}},
        {"message": "Not Found"},
    ],
)
def test_another_answer_is_an_error(read: Callable[..., Composed], body: object):
    with pytest.raises(ValueError, match=r"."):
        read(URL, body)


ODD: list[object] = [
    None,
    True,
    3,
    1.5,
    "x",
    "![x](y)",
    [],
    [None],
    [3],
    {},
    {"a": None},
    {"a": {"b": []}},
]


@pytest.mark.parametrize("value", ODD)
@pytest.mark.parametrize("name", [name for name in INFO if name not in {"name", "version"}])
def test_a_member_of_another_type_is_a_missing_one(
    read: Callable[..., Composed], name: str, value: object
):
    page = read(URL, project(**{name: value}))
    assert page.title == "sampleproject 4.0.0"
    if name not in {"description", "description_content_type"}:
        assert "![x](" not in page.markdown


@pytest.mark.parametrize("value", ODD)
@pytest.mark.parametrize("name", ["urls", "vulnerabilities", "releases", "last_serial"])
def test_so_is_another_list(read: Callable[..., Composed], name: str, value: object):
    assert read(URL, {**project(), name: value}).title == "sampleproject 4.0.0"


def test_names_are_strangers_text(read: Callable[..., Composed]):
    evil = "![x](http://evil.example)\n# y"
    page = read(
        URL,
        project(
            name=evil, version=evil, summary=evil, keywords=evil, requires_python=evil,
            project_urls={evil: evil, "ok": "https://site.example/)![x](http://evil.example"},
            requires_dist=[evil], license=evil, author=evil, description="",
        ),
    )  # fmt: skip
    assert "![" not in page.markdown.replace("!%5B", "")
    assert page.markdown.count("\n# ") == 0

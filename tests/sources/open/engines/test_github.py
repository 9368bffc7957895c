"""GitHub's search, and its answers."""

from searx_mcp.models.hits import Package
from searx_mcp.sources.open.question import Identifier, IdentifierKind

CVE = Identifier(IdentifierKind.CVE, "CVE-2024-99999")


def test_a_repository_is_a_package(read, answer):
    parsed = read("github", answer("github.json"))
    first, second = parsed.hits
    assert (first.url, first.title) == ("https://github.com/example/red-panda", "example/red-panda")
    assert first.description == "C++ / Counts red pandas in a std::vector<panda>"
    assert first.published_at == "2026-11-02T10:20:30+00:00"
    assert first.thumbnail == "https://avatars.githubusercontent.com/u/901?v=4"
    assert first.template == "packages"
    assert first.package == Package(
        name="red-panda",
        maintainer="example",
        licence="MIT License",
        licence_url="https://spdx.org/licenses/MIT.html",
        tags=("panda", "counting"),
        popularity="1234",
        homepage="https://pandas.example/",
        source_url="https://github.com/example/red-panda.git",
    )
    assert second.package is not None
    assert (second.package.licence_url, second.package.homepage) == (None, None)
    assert second.description == ""
    assert (parsed.rows_seen, parsed.has_next) == (2, True)


def test_an_issue_is_told_without_what_no_reader_sees(read, answer):
    parsed = read("github", answer("github-issues.json"), aim="issues")
    first, second = parsed.hits
    assert first.url == "https://github.com/example/red-panda/issues/7"
    assert first.title == "Segfault when a vector<panda> is empty"
    assert first.description == (
        "example/red-panda, closed, comments: 5. "
        "### What happens `vector<panda>` is empty, and it crashes."
    )
    assert (first.author, first.published_at) == ("bob", "2026-05-01T10:00:00+00:00")
    assert (first.template, first.package) == ("default", None)
    assert second.description == "ada/bamboo, open, comments: 0."
    assert (parsed.rows_seen, parsed.has_next) == (2, False)


def test_hostile_rows_become_text_or_nothing(read):
    items = [
        {"full_name": "a/b", "html_url": "javascript:alert(1)"},
        {"full_name": ["a/b"], "html_url": "https://github.com/a/b"},
        {"title": "x", "html_url": None},
        {
            "full_name": "a/c",
            "html_url": "https://github.com/a/c",
            "homepage": "data:text/html,x",
            "license": {"spdx_id": "../../x", "name": 3},
            "owner": "a",
            "topics": "one",
            "pushed_at": 7,
        },
        {
            "title": "A\u202e title",
            "html_url": "https://github.com/a/c/issues/1",
            "repository_url": "https://api.github.com/repos/a/c/../../x",
            "body": "seen <!-- ignore all <!-- of it --> this <!-- and the rest",
            "user": [],
        },
    ]
    parsed = read("github", {"items": items})
    repository, issue = parsed.hits
    assert repository.package == Package(tags=("one",))
    assert repository.published_at is None
    assert (issue.title, issue.description) == ("A title", ". seen this")
    assert parsed.rows_seen == 5

"""GitHub's search, and its answers."""

import json

import pytest

from searx_mcp.models.attempt import Verdict
from searx_mcp.models.hits import Package
from searx_mcp.models.request import TimeRange
from searx_mcp.sources.open.engine import RefusedError
from searx_mcp.sources.open.question import Identifier, IdentifierKind

CVE = Identifier(IdentifierKind.CVE, "CVE-2024-99999")


def test_a_question_becomes_an_address(ask, engine):
    row = engine("github")
    assert row.url(row.ask(ask())) == (
        "https://api.github.com/search/repositories?q=red%20panda&per_page=10&page=1"
    )


@pytest.mark.parametrize(
    ("fields", "part"),
    [
        pytest.param({"page": 2}, "&page=2", id="second page"),
        pytest.param({"aim": "issues"}, "/issues?q=red%20panda%20is%3Aissue&", id="issues"),
        pytest.param({"aim": "../users"}, "/search/repositories?", id="no aim"),
        pytest.param({"time_range": TimeRange.DAY}, "%20pushed%3A%3E%3D2026-11-21&", id="day"),
        pytest.param(
            {"time_range": TimeRange.YEAR, "aim": "issues"},
            "?q=red%20panda%20is%3Aissue%20created%3A%3E%3D2025-11-22&",
            id="issues of a year",
        ),
        pytest.param({"language": "de"}, "?q=red%20panda&", id="no languages"),
        pytest.param({"identifier": CVE}, "/issues?q=CVE-2024-99999%20is%3Aissue&", id="a flaw"),
        pytest.param(
            {"identifier": CVE, "aim": "repositories"},
            "/repositories?q=CVE-2024-99999&",
            id="programs for a flaw",
        ),
        pytest.param(
            {"keywords": ("C++", "&", '"<vector>"', "C#")},
            "?q=C%2B%2B%20vector%20C%23&",
            id="signs",
        ),
        pytest.param({"keywords": ("red panda",)}, "?q=%22red%20panda%22&", id="a phrase"),
        pytest.param({"keywords": ("std::vector",)}, "?q=%22std%3A%3Avector%22&", id="a name"),
        pytest.param({"keywords": ("user:me",)}, "?q=%22user%3Ame%22&", id="a qualifier"),
        pytest.param(
            {"keywords": ('x" user:"me',)}, "?q=%22x%20user%3A%20me%22&", id="a broken phrase"
        ),
        pytest.param(
            {"keywords": ("a", "NOT", "-b", "(c)")}, "?q=a%20%22NOT%22%20b%20c&", id="operators"
        ),
        pytest.param(
            {"keywords": tuple("abcdef")}, "?q=a%20b%20c%20d&", id="words of a repository"
        ),
        pytest.param(
            {"keywords": tuple("abcdef"), "aim": "issues"},
            "?q=a%20b%20c%20d%20e%20f%20is%3Aissue&",
            id="words of an issue",
        ),
        pytest.param(
            {"keywords": ("y" * 200, "x" * 300, "z")}, f"?q={'y' * 200}&", id="a long word"
        ),
    ],
)
def test_what_is_asked_changes_the_address(ask, engine, fields, part):
    row = engine("github")
    assert part in row.url(row.ask(ask(**fields)))


def test_a_repository_is_a_package(ask, engine, answer):
    parsed = engine("github").parse(answer("github.json"), ask())
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


def test_an_issue_is_told_without_what_no_reader_sees(ask, engine, answer):
    parsed = engine("github").parse(answer("github-issues.json"), ask(aim="issues"))
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


@pytest.mark.parametrize(
    ("found", "page", "has_next"),
    [
        pytest.param(32, 3, True, id="third of four"),
        pytest.param(32, 4, False, id="last"),
        pytest.param(50_000, 99, True, id="deep"),
        pytest.param(50_000, 100, False, id="as deep as allowed"),
    ],
)
def test_pages_end_where_the_results_do(ask, engine, found, page, has_next):
    body = json.dumps({"total_count": found, "items": []}).encode()
    parsed = engine("github").parse(body, ask(page=page))
    assert (parsed.hits, parsed.rows_seen, parsed.has_next) == ((), 0, has_next)


def test_a_search_that_was_given_up_is_no_empty_answer(ask, engine):
    body = b'{"total_count": 0, "incomplete_results": true, "items": []}'
    with pytest.raises(RefusedError) as raised:
        engine("github").parse(body, ask())
    assert raised.value.verdict == Verdict.SERVER_ERROR


def test_hostile_rows_become_text_or_nothing(ask, engine):
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
    parsed = engine("github").parse(json.dumps({"items": items}).encode(), ask())
    repository, issue = parsed.hits
    assert repository.package == Package(tags=("one",))
    assert repository.published_at is None
    assert (issue.title, issue.description) == ("A title", ". seen this")
    assert parsed.rows_seen == 5

"""GitHub: the search for repositories and for issues."""

import re
from collections.abc import Sequence
from typing import Final

from searx_mcp.testing.instance.payload import Json
from searx_mcp.testing.web import FakePage
from tests.doubles.open_sources.addresses import address_of
from tests.doubles.open_sources.call import Call, json_page, page_of
from tests.doubles.open_sources.documents import Document
from tests.doubles.open_sources.matching import by_all, ranked, words

_DOCS: Final = "https://docs.github.com/rest/search/search"
_MAX_QUERY: Final = 256
"""Characters of a query without operators and qualifiers, by the documentation of the search."""
_MAX_RESULTS: Final = 1_000
_QUALIFIER = re.compile(
    r"\b(is|in|type|state|language|repo|user|org|topic|pushed|created|updated|stars):(\S+)"
)
_BOUND = re.compile(r"(>=|<=|>|<|)(\d{4}-\d\d-\d\d)")
_HEADERS: Final = {
    "X-RateLimit-Limit": "10",
    "X-RateLimit-Remaining": "9",
    "X-RateLimit-Resource": "search",
}


def github(call: Call, documents: Sequence[Document]) -> FakePage:
    """Answer `/search/repositories` and `/search/issues`; all words have to be there."""
    kind = {"/search/repositories": "repository", "/search/issues": "issue"}.get(call.path)
    if kind is None:
        missing = {"message": "Not Found", "documentation_url": _DOCS, "status": "404"}
        return json_page(missing, status=404)
    query = call.text("q")
    asked = words(_QUALIFIER.sub(" ", query))
    if not query.strip():
        return _invalid("missing")
    if len(_QUALIFIER.sub("", query)) > _MAX_QUERY:
        return _invalid("invalid")
    qualifiers = _QUALIFIER.findall(query)
    mine = [
        document
        for document in documents
        if document.kind == kind and all(_fits(document, *each) for each in qualifiers)
    ]
    found = ranked(mine, by_all(asked)) if asked else mine
    if call.text("sort") == "stars":
        found = sorted(found, key=lambda each: -each.points)
    size = min(call.number("per_page", 30), 100)
    start = (max(call.number("page", 1), 1) - 1) * size
    write = _repository if kind == "repository" else _issue
    part = page_of(found[:_MAX_RESULTS], start=start, size=size)
    return json_page(
        {
            "total_count": len(found),
            "incomplete_results": False,
            "items": [write(document) for document in part],
        },
        headers=_HEADERS,
    )


def _invalid(code: str) -> FakePage:
    error = {"resource": "Search", "field": "q", "code": code}
    body = {"message": "Validation Failed", "errors": [error], "documentation_url": _DOCS}
    return json_page(body, status=422)


def _fits(document: Document, name: str, value: str) -> bool:
    if name in {"pushed", "created", "updated"}:
        return _is_dated(document, value)
    asked = value.lower()
    facts = {
        "language": document.container.lower() == asked,
        "topic": asked in document.tags,
        "repo": asked in {document.title.lower(), document.container.lower()},
        "user": document.title.lower().startswith(f"{asked}/"),
        "org": document.title.lower().startswith(f"{asked}/"),
        "is": asked in {"issue", "open", "public"},
        "type": asked == "issue",
        "state": asked == "open",
    }
    return facts.get(name, True)


def _is_dated(document: Document, value: str) -> bool:
    bound = _BOUND.match(value)
    if bound is None:
        return True
    day, edge = document.stamp[:10], bound[2]
    match bound[1]:
        case ">=":
            return day >= edge
        case "<=":
            return day <= edge
        case ">":
            return day > edge
        case "<":
            return day < edge
        case _:
            return day == edge


def _owner(login: str) -> Json:
    return {
        "login": login,
        "id": len(login),
        "avatar_url": f"https://avatars.githubusercontent.com/u/{len(login)}?v=4",
        "html_url": f"https://github.com/{login}",
        "type": "Organization",
    }


def _repository(document: Document) -> Json:
    owner, _, name = document.title.partition("/")
    return {
        "id": document.number,
        "name": name,
        "full_name": document.title,
        "private": False,
        "owner": _owner(owner),
        "html_url": address_of(document),
        "description": document.text or None,
        "fork": False,
        "url": f"https://api.github.com/repos/{document.title}",
        "created_at": "2020-01-01T00:00:00Z",
        "updated_at": document.stamp,
        "pushed_at": document.stamp,
        "homepage": None,
        "stargazers_count": document.points,
        "watchers_count": document.points,
        "language": document.container or None,
        "forks_count": document.points // 10,
        "archived": False,
        "open_issues_count": document.comments,
        "license": {"key": "mit", "name": "MIT License", "spdx_id": "MIT"},
        "topics": list(document.tags),
        "default_branch": "main",
        "score": 1.0,
    }


def _issue(document: Document) -> Json:
    number = document.number % 10_000
    api = f"https://api.github.com/repos/{document.container}"
    return {
        "url": f"{api}/issues/{number}",
        "repository_url": api,
        "html_url": address_of(document),
        "id": document.number,
        "number": number,
        "title": document.title,
        "user": _owner(document.author or "reporter"),
        "labels": [],
        "state": "open",
        "comments": document.comments,
        "created_at": document.stamp,
        "updated_at": document.stamp,
        "closed_at": None,
        "body": document.text,
        "score": 1.0,
    }

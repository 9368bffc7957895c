"""GitHub: the search for repositories and for issues."""

import re
from collections.abc import Sequence
from typing import Final

from searx_mcp.testing.instance.replies import Json
from searx_mcp.testing.web import FakePage
from tests.doubles.open_sources.addresses import address_of
from tests.doubles.open_sources.call import Call, json_page, page_of
from tests.doubles.open_sources.documents import Document
from tests.doubles.open_sources.matching import by_all, ranked, words

_MAX_QUERY: Final = 256
"""Characters of a query without operators and qualifiers, by the documentation of the search."""
_MAX_RESULTS: Final = 1_000
_QUALIFIER = re.compile(r"\b(?:is|pushed|created):\S+")
_SINCE = re.compile(r"\b(?:pushed|created):>=(\S+)")


def github(call: Call, documents: Sequence[Document]) -> FakePage:
    """Answer `/search/repositories` and `/search/issues`; all words have to be there."""
    kind = {"/search/repositories": "repository", "/search/issues": "issue"}.get(call.path)
    if kind is None:
        return json_page({"message": "Not Found"}, status=404)
    query = call.text("q")
    asked = words(_QUALIFIER.sub(" ", query))
    if not asked or len(_QUALIFIER.sub("", query)) > _MAX_QUERY:
        return json_page({"message": "Validation Failed"}, status=422)
    edges = _SINCE.findall(query)
    mine = [
        document
        for document in documents
        if document.kind == kind and all(document.stamp[:10] >= edge for edge in edges)
    ]
    found = ranked(mine, by_all(asked))
    size = min(call.number("per_page", 30), 100)
    start = (max(call.number("page", 1), 1) - 1) * size
    write = _repository if kind == "repository" else _issue
    part = page_of(found[:_MAX_RESULTS], start=start, size=size)
    return json_page(
        {
            "total_count": len(found),
            "incomplete_results": False,
            "items": [write(document) for document in part],
        }
    )


def _owner(login: str) -> Json:
    return {"login": login, "avatar_url": f"https://avatars.githubusercontent.com/u/{len(login)}"}


def _repository(document: Document) -> Json:
    owner, _, name = document.title.partition("/")
    return {
        "name": name,
        "full_name": document.title,
        "owner": _owner(owner),
        "html_url": address_of(document),
        "description": document.text or None,
        "pushed_at": document.stamp,
        "stargazers_count": document.points,
        "language": document.container or None,
        "license": {"key": "mit", "name": "MIT License", "spdx_id": "MIT"},
        "topics": list(document.tags),
    }


def _issue(document: Document) -> Json:
    return {
        "repository_url": f"https://api.github.com/repos/{document.container}",
        "html_url": address_of(document),
        "title": document.title,
        "user": _owner(document.author or "reporter"),
        "state": "open",
        "comments": document.comments,
        "created_at": document.stamp,
        "body": document.text,
    }

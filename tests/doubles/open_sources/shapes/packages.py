"""npm, crates.io and the Hugging Face Hub."""

from collections.abc import Sequence
from typing import Final
from urllib.parse import urlencode

from searx_mcp.testing.instance.payload import Json
from searx_mcp.testing.web import FakePage
from tests.doubles.open_sources.addresses import address_of
from tests.doubles.open_sources.call import Call, json_page, page_of, text_page
from tests.doubles.open_sources.documents import Document
from tests.doubles.open_sources.matching import by_all, by_any, ranked, words

_MAX_NPM: Final = 250
_MAX_CRATES: Final = 100
_HUB: Final = "https://huggingface.co"
_HUB_KINDS: Final = {
    "/api/models": "model",
    "/api/datasets": "dataset",
    "/api/spaces": "space",
}


def npm(call: Call, documents: Sequence[Document]) -> FakePage:
    """Answer `/-/v1/search`; any word finds a package."""
    if call.path != "/-/v1/search":
        return json_page({"error": "Not found"}, status=404)
    if not call.text("text"):
        return json_page({"error": "'text' query parameter is required"}, status=400)
    found = ranked(documents, by_any(words(call.text("text"))))
    size = min(call.number("size", 20), _MAX_NPM)
    part = page_of(found, start=call.number("from", 0), size=size)
    return json_page(
        {
            "objects": [_npm_package(document) for document in part],
            "total": len(found),
            "time": call.now.strftime("%Y-%m-%dT%H:%M:%S.000Z"),
        }
    )


def _npm_package(document: Document) -> Json:
    name = document.title
    person = {"username": document.author, "email": f"{document.author}@example.org"}
    source = f"https://github.com/{document.author}/{name.rpartition('/')[2]}"
    parts = {"popularity": 0.5, "quality": 0.5, "maintenance": 0.5}
    return {
        "downloads": {"monthly": document.points, "weekly": document.points // 4},
        "dependents": document.points // 1_000,
        "updated": document.stamp,
        "searchScore": 100.0,
        "package": {
            "name": name,
            "keywords": list(document.tags),
            "version": document.version,
            "description": document.text,
            "sanitized_name": name,
            "publisher": person,
            "maintainers": [person],
            "license": "MIT",
            "date": document.stamp,
            "links": {
                "homepage": f"{source}#readme",
                "repository": f"git+{source}.git",
                "bugs": f"{source}/issues",
                "npm": address_of(document),
            },
        },
        "score": {"final": 100.0, "detail": parts},
        "flags": {"insecure": 0},
    }


def crates(call: Call, documents: Sequence[Document]) -> FakePage:
    """Answer `/api/v1/crates`; a crate has all words, or the whole question in its name."""
    if call.path != "/api/v1/crates":
        return json_page({"errors": [{"detail": "Not Found"}]}, status=404)
    size, number = call.number("per_page", 10), max(call.number("page", 1), 1)
    if not 1 <= size <= _MAX_CRATES:
        detail = f"cannot request more than {_MAX_CRATES} items"
        return json_page({"errors": [{"detail": detail}]}, status=400)
    query = call.text("q")
    in_words = by_all(words(query))

    def score(document: Document) -> float:
        if document.title.lower() == query.strip().lower():
            return 3.0
        is_part = query.strip().lower() in document.title.lower()
        return in_words(document) or float(is_part)

    found = ranked(documents, score)
    if call.text("sort") == "downloads":
        found.sort(key=lambda each: -each.points)
    has_more = number * size < len(found)
    following = urlencode({"q": query, "per_page": size, "page": number + 1})
    part = page_of(found, start=(number - 1) * size, size=size)
    return json_page(
        {
            "crates": [_crate(document, query) for document in part],
            "meta": {
                "total": len(found),
                "next_page": f"?{following}" if has_more else None,
                "prev_page": None,
            },
        }
    )


def _crate(document: Document, query: str) -> Json:
    name = document.title
    return {
        "id": name,
        "name": name,
        "updated_at": document.stamp,
        "versions": None,
        "keywords": list(document.tags) or None,
        "categories": None,
        "badges": [],
        "created_at": "2019-01-01T00:00:00Z",
        "downloads": document.points * 4,
        "recent_downloads": document.points,
        "default_version": document.version,
        "num_versions": 12,
        "yanked": False,
        "max_version": document.version,
        "newest_version": document.version,
        "max_stable_version": document.version,
        "description": document.text,
        "homepage": None,
        "documentation": f"https://docs.rs/{name}",
        "repository": f"https://github.com/example/{name}",
        "links": {"versions": f"/api/v1/crates/{name}/versions"},
        "exact_match": name == query,
    }


def huggingface(call: Call, documents: Sequence[Document]) -> FakePage:
    """Answer `/api/models`, `/api/datasets` and `/api/spaces`: words have to be parts of the name."""
    kind = _HUB_KINDS.get(call.path)
    if kind is None:
        return text_page("Not Found", status=404)
    parts = call.text("search").lower().split()
    found = [
        document
        for document in documents
        if document.kind == kind and all(part in document.title.lower() for part in parts)
    ]
    if call.text("sort") == "likes":
        found.sort(key=lambda each: each.comments, reverse=True)
    else:
        found.sort(key=lambda each: each.points, reverse=True)
    size, start = call.number("limit", 1_000), call.number("cursor", 0)
    headers = {
        "RateLimit": '"api";r=499;t=300',
        "RateLimit-Policy": '"fixed window";"api";q=500;w=300',
    }
    if start + size < len(found):
        following = urlencode(
            {"search": call.text("search"), "limit": size, "cursor": start + size}
        )
        headers["Link"] = f'<{_HUB}{call.path}?{following}>; rel="next"'
    part = page_of(found, start=start, size=size)
    return json_page([_repository(document) for document in part], headers=headers)


def _repository(document: Document) -> Json:
    fields: dict[str, object] = {
        "_id": f"{document.number:024x}",
        "id": document.title,
        "author": document.title.partition("/")[0],
        "private": False,
        "gated": False,
        "likes": document.comments,
        "tags": list(document.tags),
        "createdAt": document.moment.strftime("%Y-%m-%dT%H:%M:%S.000Z"),
        "lastModified": document.moment.strftime("%Y-%m-%dT%H:%M:%S.000Z"),
    }
    if document.kind != "space":
        fields["downloads"] = document.points
    if document.kind == "model":
        library, pipeline = document.tags[:2]
        fields |= {"modelId": document.title, "library_name": library, "pipeline_tag": pipeline}
    if document.kind == "dataset":
        fields["description"] = document.text
    return fields

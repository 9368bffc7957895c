"""npm, crates.io and the Hugging Face Hub."""

from collections.abc import Sequence
from typing import Final
from urllib.parse import urlencode

from searx_mcp.testing.instance.replies import Json
from searx_mcp.testing.web import FakePage
from tests.doubles.open_sources.addresses import address_of
from tests.doubles.open_sources.call import Call, json_page, page_of, text_page
from tests.doubles.open_sources.documents import Document
from tests.doubles.open_sources.matching import by_all, by_any, ranked, words

_MAX_NPM: Final = 250
_MAX_CRATES: Final = 100
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
        }
    )


def _npm_package(document: Document) -> Json:
    name = document.title
    source = f"https://github.com/{document.author}/{name.rpartition('/')[2]}"
    return {
        "downloads": {"monthly": document.points},
        "package": {
            "name": name,
            "keywords": list(document.tags),
            "version": document.version,
            "description": document.text,
            "publisher": {"username": document.author},
            "license": "MIT",
            "date": document.stamp,
            "links": {
                "homepage": f"{source}#readme",
                "repository": f"git+{source}.git",
                "bugs": f"{source}/issues",
                "npm": address_of(document),
            },
        },
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
    has_more = number * size < len(found)
    following = urlencode({"q": query, "per_page": size, "page": number + 1})
    part = page_of(found, start=(number - 1) * size, size=size)
    return json_page(
        {
            "crates": [_crate(document) for document in part],
            "meta": {
                "total": len(found),
                "next_page": f"?{following}" if has_more else None,
            },
        }
    )


def _crate(document: Document) -> Json:
    name = document.title
    return {
        "name": name,
        "updated_at": document.stamp,
        "keywords": list(document.tags) or None,
        "recent_downloads": document.points,
        "max_version": document.version,
        "newest_version": document.version,
        "max_stable_version": document.version,
        "description": document.text,
        "documentation": f"https://docs.rs/{name}",
        "repository": f"https://github.com/example/{name}",
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
    part = found[: call.number("limit", 1_000)]
    return json_page([_repository(document) for document in part])


def _repository(document: Document) -> Json:
    fields: dict[str, object] = {
        "id": document.title,
        "author": document.title.partition("/")[0],
        "private": False,
        "likes": document.comments,
        "tags": list(document.tags),
        "createdAt": document.moment.strftime("%Y-%m-%dT%H:%M:%S.000Z"),
        "lastModified": document.moment.strftime("%Y-%m-%dT%H:%M:%S.000Z"),
    }
    if document.kind != "space":
        fields["downloads"] = document.points
    if document.kind == "model":
        library, pipeline = document.tags[:2]
        fields |= {"library_name": library, "pipeline_tag": pipeline}
    if document.kind == "dataset":
        fields["description"] = document.text
    return fields

"""Stack Exchange (search by excerpts) and Hacker News (the search of Algolia)."""

from collections.abc import Sequence
from html import escape
from typing import Final

from searx_mcp.sources.open.engines.stackexchange import SITES
from searx_mcp.testing.instance.replies import Json
from searx_mcp.testing.web import FakePage
from tests.doubles.open_sources.call import Call, json_page, page_of
from tests.doubles.open_sources.documents import Document
from tests.doubles.open_sources.matching import by_all, by_any, ranked, words

_QUOTA: Final = 300
"""Requests a day to an address without a key, by the documentation of the throttle."""
_MAX_PAGE_SIZE: Final = 100
_SINCE: Final = "created_at_i>="
"""The only number that the index filters by since June 2026, as the double reads it."""
_MAX_HITS: Final = 1_000


def stackexchange(call: Call, documents: Sequence[Document]) -> FakePage:
    """Answer `/2.3/search/excerpts` for one site; any word finds a post."""
    site = call.text("site")
    size = call.number("pagesize", 30)
    if call.path != "/2.3/search/excerpts":
        return json_page({"error_name": "no_method"}, status=404)
    if site not in SITES or size > _MAX_PAGE_SIZE or not call.text("q"):
        return json_page({"error_name": "bad_parameter"}, status=400)
    asked = words(call.text("q"))
    mine = [
        document
        for document in documents
        if (document.site or "stackoverflow") == site
        and document.moment.timestamp() >= call.number("fromdate", 0)
    ]
    found = ranked(mine, by_any(asked))
    start = (max(call.number("page", 1), 1) - 1) * size
    return json_page(
        {
            "items": [_post(each) for each in page_of(found, start=start, size=size)],
            "has_more": start + size < len(found),
            "quota_remaining": _QUOTA - 1,
        }
    )


def _post(document: Document) -> Json:
    moment = int(document.moment.timestamp())
    is_answer = document.kind == "answer"
    fields: dict[str, object] = {
        "tags": list(document.tags),
        "item_type": "answer" if is_answer else "question",
        "score": document.points,
        "creation_date": moment,
        "question_id": document.number,
        "excerpt": f"...\r\n{escape(document.text)}\r\n...",
        "body": escape(document.text),
        "title": escape(document.title),
    }
    if is_answer:
        return fields | {"answer_id": document.number + 1, "is_accepted": True}
    return fields | {
        "has_accepted_answer": document.comments > 1,
        "answer_count": document.comments,
    }


def hackernews(call: Call, documents: Sequence[Document]) -> FakePage:
    """Answer `/api/v1/search` and `…/search_by_date`; a story has all words but optional ones."""
    if call.path not in {"/api/v1/search", "/api/v1/search_by_date"}:
        return json_page({"error": "Not Found", "status": 404}, status=404)
    since = call.text("numericFilters", _SINCE)
    if not since.startswith(_SINCE):
        return json_page({"message": "invalid numeric attribute", "status": 400}, status=400)
    first = int(since.removeprefix(_SINCE) or 0)
    asked = words(call.text("query"))
    optional = set(words(call.text("optionalWords")))
    mine = [each for each in documents if each.moment.timestamp() >= first]
    if optional:
        needed = by_all([word for word in asked if word not in optional])
        has_needed = [each for each in mine if optional.issuperset(asked) or needed(each)]
        found = ranked(has_needed, by_any(asked))
    else:
        found = ranked(mine, by_all(asked))
    if call.path.endswith("_by_date"):
        found.sort(key=lambda each: each.moment, reverse=True)
    size, page = call.number("hitsPerPage", 20), call.number("page", 0)
    shown = found[:_MAX_HITS]
    return json_page(
        {
            "hits": [_story(each) for each in page_of(shown, start=page * size, size=size)],
            "nbPages": -(-len(shown) // size) if size else 0,
            "page": page,
        }
    )


def _story(document: Document) -> Json:
    fields: dict[str, object] = {
        "author": document.author,
        "created_at_i": int(document.moment.timestamp()),
        "num_comments": document.comments,
        "objectID": str(document.number),
        "points": document.points,
        "title": document.title,
    }
    if document.url:
        fields["url"] = document.url
    else:
        fields["story_text"] = escape(document.text)
    return fields

"""Stack Exchange (search by excerpts) and Hacker News (the search of Algolia)."""

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from html import escape
from typing import Final

from searx_mcp.testing.instance.payload import Json
from searx_mcp.testing.web import FakePage
from tests.doubles.open_sources.call import Call, json_page, page_of
from tests.doubles.open_sources.documents import Document
from tests.doubles.open_sources.matching import by_all, by_any, highlighted, ranked, words

SITES: Final = (
    "stackoverflow",
    "ru.stackoverflow",
    "es.stackoverflow",
    "ja.stackoverflow",
    "pt.stackoverflow",
    "superuser",
    "serverfault",
    "askubuntu",
    "mathoverflow.net",
    "apple",
    "unix",
    "dba",
    "security",
    "softwareengineering",
    "networkengineering",
    "raspberrypi",
    "electronics",
    "android",
    "gaming",
    "math",
    "stats",
    "physics",
    "chemistry",
    "biology",
    "astronomy",
    "cs",
    "ai",
    "datascience",
    "tex",
    "gis",
    "english",
    "ell",
    "german",
    "french",
    "japanese",
    "history",
    "law",
    "money",
    "academia",
    "travel",
    "cooking",
    "diy",
    "gardening",
    "bicycles",
    "mechanics",
    "music",
    "photo",
    "movies",
    "scifi",
    "workplace",
)
"""Sites of the network that the double knows by name; it has posts of some of them only."""

_QUOTA: Final = 300
"""Requests a day to an address without a key, by the documentation of the throttle."""
_MAX_PAGE_SIZE: Final = 100
_FILTERED: Final = "created_at_i"
"""The only number that the index filters by since June 2026."""
_MAX_HITS: Final = 1_000


def stackexchange(call: Call, documents: Sequence[Document]) -> FakePage:
    """Answer `/2.3/search/excerpts` for one site; any word finds a post."""
    site = call.text("site")
    if call.path != "/2.3/search/excerpts":
        return _se_error(404, "no_method", "This method does not exist")
    if not site:
        return _se_error(400, "bad_parameter", "site is required")
    if site not in SITES:
        return _se_error(400, "bad_parameter", f"No site found for name `{site}`")
    size = call.number("pagesize", 30)
    if size > _MAX_PAGE_SIZE or not (call.text("q") or call.text("tagged")):
        return _se_error(400, "bad_parameter", "pagesize" if call.text("q") else "q or tagged")
    asked = words(call.text("q"))
    since, until = call.number("fromdate", 0), call.number("todate", 1 << 40)
    tags = {tag for tag in call.text("tagged").split(";") if tag}
    mine = [
        document
        for document in documents
        if (document.site or "stackoverflow") == site
        and since <= document.moment.timestamp() <= until
        and (not tags or tags & set(document.tags))
    ]
    found = ranked(mine, by_any(asked)) if asked else mine
    start = (max(call.number("page", 1), 1) - 1) * size
    return json_page(
        {
            "items": [_post(each, asked) for each in page_of(found, start=start, size=size)],
            "has_more": start + size < len(found),
            "quota_max": _QUOTA,
            "quota_remaining": _QUOTA - 1,
        }
    )


def _se_error(number: int, name: str, message: str) -> FakePage:
    body = {"error_id": number, "error_message": message, "error_name": name}
    return json_page(body, status=number)


def _post(document: Document, asked: Sequence[str]) -> Json:
    moment = int(document.moment.timestamp())
    is_answer = document.kind == "answer"
    excerpt = highlighted(
        escape(document.text), asked, opening='<span class="highlight">', closing="</span>"
    )
    fields: dict[str, object] = {
        "tags": list(document.tags),
        "question_score": document.points,
        "item_type": "answer" if is_answer else "question",
        "score": document.points,
        "last_activity_date": moment + 86_400,
        "creation_date": moment,
        "question_id": document.number,
        "excerpt": f"...\r\n{excerpt}\r\n...",
        "body": escape(document.text),
        "title": escape(document.title),
    }
    if is_answer:
        return fields | {"answer_id": document.number + 1, "is_accepted": True}
    return fields | {
        "is_answered": document.comments > 0,
        "has_accepted_answer": document.comments > 1,
        "answer_count": document.comments,
    }


def hackernews(call: Call, documents: Sequence[Document]) -> FakePage:
    """Answer `/api/v1/search` and `/api/v1/search_by_date`; a story has to have all words but optional ones."""
    if call.path not in {"/api/v1/search", "/api/v1/search_by_date"}:
        return json_page({"error": "Not Found", "status": 404}, status=404)
    conditions = list(filter(None, call.text("numericFilters").split(",")))
    for condition in conditions:
        name = re.split("[<>=]", condition)[0]
        if name != _FILTERED:
            message = f"invalid numeric attribute({name}), attribute not specified in numericAttributesForFiltering setting"
            return json_page({"code": 400, "message": message}, status=400)
    asked = words(call.text("query"))
    optional = set(words(call.text("optionalWords")))
    mine = [each for each in documents if _fits(each, call, conditions)]
    if not asked:
        found = sorted(mine, key=lambda each: -each.points)
    elif optional:
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
            "exhaustive": {"nbHits": True, "typo": True},
            "exhaustiveNbHits": True,
            "hits": [_story(each, asked) for each in page_of(shown, start=page * size, size=size)],
            "hitsPerPage": size,
            "nbHits": len(found),
            "nbPages": -(-len(shown) // size) if size else 0,
            "page": page,
            "params": call.url.partition("?")[2],
            "processingTimeMS": 5,
            "query": call.text("query"),
        }
    )


def _fits(document: Document, call: Call, conditions: Sequence[str]) -> bool:
    asked_tags = call.text("tags").strip("()").split(",")
    at = int(document.moment.timestamp())
    has_tags = not set(filter(None, asked_tags)).isdisjoint(_tags_of(document))
    return (has_tags or not call.text("tags")) and all(
        _holds(condition, at) for condition in conditions
    )


def _tags_of(document: Document) -> list[str]:
    tags = ["story", f"author_{document.author}", f"story_{document.number}"]
    for beginning, tag in (("Show HN", "show_hn"), ("Ask HN", "ask_hn")):
        if document.title.startswith(beginning):
            tags.append(tag)
    return tags


def _holds(condition: str, value: int) -> bool:
    """Whether a condition such as `created_at_i>=3` holds; one that cannot be read does."""
    for sign in (">=", "<=", ">", "<", "="):
        _, found, limit = condition.partition(sign)
        if found and limit.isdecimal():
            edge = int(limit)
            return (
                (value > edge and ">" in sign)
                or (value < edge and "<" in sign)
                or (value == edge and "=" in sign)
            )
    return True


def _story(document: Document, asked: Sequence[str]) -> Json:
    marked = highlighted(escape(document.title), asked, opening="<em>", closing="</em>")
    fields: dict[str, object] = {
        "_highlightResult": {
            "title": {"value": marked, "matchLevel": "full", "matchedWords": list(asked)}
        },
        "_tags": _tags_of(document),
        "author": document.author,
        "created_at": document.stamp,
        "created_at_i": int(document.moment.timestamp()),
        "num_comments": document.comments,
        "objectID": str(document.number),
        "points": document.points,
        "story_id": document.number,
        "title": document.title,
        "updated_at": datetime.fromtimestamp(document.moment.timestamp() + 86_400, tz=UTC).strftime(
            "%Y-%m-%dT%H:%M:%SZ"
        ),
    }
    if document.url:
        fields["url"] = document.url
    else:
        fields["story_text"] = escape(document.text)
    return fields

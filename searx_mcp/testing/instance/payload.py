"""The JSON documents of an instance, in the shape of August 2026."""

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from searx_mcp.models.hits import Answer, Hit, Infobox, ResultPage, UnresponsiveEngine
from searx_mcp.testing.instance.query import CATEGORIES
from searx_mcp.testing.instance.theme import Site
from searx_mcp.testing.results import ENGINES

Json = Mapping[str, object]

_URI = re.compile(r"(?:([^:/?#]+):)?(?://([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#(.*))?", re.DOTALL)
"""RFC 3986, appendix B: takes any text apart, broken addresses too."""


def search_document(text: str, page: ResultPage) -> dict[str, object]:
    """Return the answer to a search with `format=json`."""
    return {
        "query": text,
        "results": [_row(hit) for hit in page.hits],
        "answers": [_answer(answer) for answer in page.answers],
        "corrections": list(page.corrections),
        "infoboxes": [_infobox(box) for box in page.infoboxes],
        "suggestions": list(page.suggestions),
        "unresponsive_engines": [[each.engine, each.reason] for each in page.unresponsive_engines],
    }


def config_document(site: Site, *, has_limiter: bool) -> Json:
    """Return `/config`: version, engines, and whether the limiter and its token are on."""
    return {
        "categories": list(CATEGORIES),
        "default_locale": "",
        "default_theme": "simple",
        "engines": [_engine(name) for name in ENGINES],
        "instance_name": "SearXNG",
        "limiter": {
            "enabled": has_limiter,
            "botdetection.ip_limit.link_token": site.link_token,
            "botdetection.ip_lists.pass_searxng_org": True,
        },
        "locales": {"en": "English"},
        "plugins": [],
        # Upstream's public_instance forces the limiter and the token on.
        "public_instance": site.link_token,
        "safe_search": 0,
        "version": site.version,
    }


def errors_document(failed: Iterable[UnresponsiveEngine]) -> Json:
    """Return `/stats/errors`: what went wrong per engine."""
    return {
        each.engine: [
            {
                "exception_classname": "searx.exceptions.SearxEngineResponseException",
                "log_message": each.reason,
                "log_parameters": [],
                "percentage": 100,
                "secondary": False,
            }
        ]
        for each in failed
    }


def _row(hit: Hit) -> Json:
    core: dict[str, object] = {
        "url": hit.url,
        "title": hit.title,
        "content": hit.description,
        "template": f"{hit.template}.html",
        "engine": hit.engines[0] if hit.engines else "",
        "engines": list(hit.engines),
        "parsed_url": _parsed_url(hit.url),
        "positions": [hit.position] * len(hit.engines),
        "score": _score(len(hit.engines), hit.position),
        "category": hit.category,
        "priority": "",
        "thumbnail": hit.thumbnail or "",
        "img_src": "",
        "author": hit.author,
        **_dates(hit),
    }
    if hit.image is not None:
        # Pictures never go through the image proxy here.
        return core | {
            "thumbnail": "",
            "thumbnail_src": hit.thumbnail or hit.image.url,
            "img_src": hit.image.url,
            "resolution": hit.image.resolution,
            "img_format": hit.image.format,
            "source": hit.image.source,
            "filesize": "",
            "formats": [],
        }
    if hit.template == "videos":
        return core | {"length": 2_732.0, "views": "1.2K", "iframe_src": "", "metadata": ""}
    return core | {
        "iframe_src": "",
        "audio_src": "",
        "length": None,
        "views": "",
        "metadata": "",
        "open_group": False,
        "close_group": False,
    }


def _dates(hit: Hit) -> Json:
    if hit.published_at is None:
        return {"publishedDate": None, "pubdate": ""}
    when = datetime.fromisoformat(hit.published_at)
    return {
        "publishedDate": when.isoformat(),
        "pubdate": when.strftime("%Y-%m-%d %H:%M:%S%z"),
    }


def _score(engines: int, position: int) -> float:
    """Upstream's `calculate_score` with all weights 1: Σ over engines of engines / position."""
    return engines * engines / position


def _answer(answer: Answer) -> Json:
    return {
        "url": answer.url,
        "engine": ENGINES[0],
        "parsed_url": _parsed_url(answer.url) if answer.url else None,
        "template": "answer/legacy.html",
        "answer": answer.text,
    }


def _infobox(box: Infobox) -> Json:
    engine = box.engine or ENGINES[0]
    return {
        "infobox": box.title,
        "id": box.links[0].url if box.links else "",
        "content": box.content,
        "img_src": box.image or "",
        "urls": [{"title": link.title, "url": link.url} for link in box.links],
        "attributes": [{"label": fact.label, "value": fact.value} for fact in box.attributes],
        "relatedTopics": [],
        "engine": engine,
        "engines": [engine],
        "url": None,
        "template": "default.html",
        "parsed_url": None,
        "title": "",
        "thumbnail": "",
        "priority": "",
        # An infobox has no place in a list; upstream sends an empty text.
        "positions": "",
        "score": 0,
        "category": "",
        "publishedDate": None,
    }


def _engine(name: str) -> Json:
    return {
        "name": name,
        "categories": list(CATEGORIES),
        "shortcut": name[0],
        "enabled": True,
        "paging": True,
        "language_support": True,
        "languages": ["en"],
        "regions": [],
        "safesearch": True,
        "time_range_support": True,
        "timeout": 3.0,
    }


def _parsed_url(url: str) -> Sequence[str]:
    match = _URI.fullmatch(url)
    scheme, netloc, path, query, fragment = match.groups("") if match else ("", "", url, "", "")
    return [scheme, netloc, path, "", query, fragment]

"""The JSON documents of an instance, in the shape of August 2026."""

from collections.abc import Iterable, Sequence

from searx_mcp.models.hits import Answer, Infobox, ResultPage, UnresponsiveEngine
from searx_mcp.testing.engines import FakeEngine
from searx_mcp.testing.instance.payload_rows import Json, parsed_url, row
from searx_mcp.testing.instance.theme import Site
from searx_mcp.testing.results import ENGINES


def search_document(text: str, page: ResultPage) -> dict[str, object]:
    """Return the answer to a search with `format=json`."""
    return {
        "query": text,
        "results": [row(hit) for hit in page.hits],
        "answers": [_answer(answer) for answer in page.answers],
        "corrections": list(page.corrections),
        "infoboxes": [_infobox(box) for box in page.infoboxes],
        "suggestions": list(page.suggestions),
        "unresponsive_engines": [[each.engine, each.reason] for each in page.unresponsive_engines],
    }


def config_document(site: Site, engines: Sequence[FakeEngine], *, has_limiter: bool) -> Json:
    """Return `/config`: version, engines, and whether the limiter and its token are on."""
    return {
        "categories": list(dict.fromkeys(name for each in engines for name in each.categories)),
        "default_locale": "",
        "default_theme": "simple",
        "engines": [_engine(engine) for engine in engines],
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


def _answer(answer: Answer) -> Json:
    return {
        "url": answer.url,
        "engine": ENGINES[0],
        "parsed_url": parsed_url(answer.url) if answer.url else None,
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


def _engine(engine: FakeEngine) -> Json:
    return {
        "name": engine.name,
        "categories": list(engine.categories),
        "shortcut": engine.name[:2],
        "enabled": engine.enabled,
        "paging": engine.paging,
        "language_support": True,
        "languages": ["en"],
        "regions": [],
        "safesearch": True,
        "time_range_support": engine.time_range,
        "timeout": engine.timeout,
    }

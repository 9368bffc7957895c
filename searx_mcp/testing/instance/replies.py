"""The answers of a fake instance: JSON in the shape of August 2026, refusals, challenges, redirects.

Rows have two shapes upstream: typed ones with every field, and untyped ones with the fields that their engine set.
"""

import asyncio
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import Enum, auto
from http import HTTPStatus

from aiohttp import web

from searx_mcp.models.hits import Answer, Hit, Media, ResultPage, UnresponsiveEngine, Video
from searx_mcp.render.searxng_fields import TEMPLATES, infobox_fields, kind_fields
from searx_mcp.testing.instance.index import FakeEngine
from searx_mcp.testing.instance.theme import Site
from searx_mcp.testing.limiter import Refusal
from searx_mcp.testing.results import ENGINES

HTML = "text/html; charset=utf-8"
JSON = "application/json"
TEXT = "text/plain; charset=utf-8"

# As in SearXNG 2026.8.22, whatever the path prefix.
ROBOTS = """User-agent: *
Allow: /info/en/about
Disallow: /stats
Disallow: /image_proxy
Disallow: /preferences
Disallow: /*?*q=*
"""

# A proxy such as Anubis: answers 200, and has neither a generator nor results.
_CHALLENGE = """<!doctype html>
<html lang="en">
<title>Making sure you're not a bot!</title>
<h1>Making sure you're not a bot!</h1>
<p id="status">Loading...</p>
<noscript><p>You have to enable JavaScript to get past this challenge.</p></noscript>
</html>
"""


@dataclass(frozen=True, slots=True)
class Reply:
    """One complete response."""

    body: bytes
    content_type: str = HTML
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)

    def response(self) -> web.Response:
        """Return a new response; one cannot be sent twice."""
        headers = {
            "Content-Type": self.content_type,
            "Server": "granian",
            "X-Robots-Tag": "noindex, nofollow",
            "Referrer-Policy": "no-referrer",
            **self.headers,
        }
        return web.Response(body=self.body, status=self.status, headers=headers)


def html(text: str, *, status: int = 200) -> Reply:
    """Return a page; characters that UTF-8 cannot encode become question marks."""
    return Reply(text.encode("utf-8", "replace"), status=status)


def plain(text: str) -> Reply:
    """Return a plain text."""
    return Reply(text.encode("utf-8", "replace"), content_type=TEXT)


def document(value: Mapping[str, object], *, status: int = 200) -> Reply:
    """Return a JSON document, escaped to ASCII as upstream does."""
    return Reply(json.dumps(value).encode("ascii"), content_type=JSON, status=status)


def plain_status(status: int, headers: Mapping[str, str] | None = None) -> Reply:
    """Return the short page of a bare status; 429 has the limiter's body."""
    if status == HTTPStatus.TOO_MANY_REQUESTS:
        return Reply(b"Too Many Requests", status=status, headers=headers or {})
    phrase = HTTPStatus(status).phrase
    text = f"<!doctype html>\n<html lang=en>\n<title>{status} {phrase}</title>\n<h1>{phrase}</h1>\n"
    return Reply(text.encode("ascii"), status=status, headers=headers or {})


def redirect(location: str, *, status: int = 302) -> Reply:
    """Return a redirect that must not be stored."""
    text = "<!doctype html>\n<html lang=en>\n<title>Redirecting...</title>\n"
    headers = {"Location": location, "Cache-Control": "no-store, max-age=0"}
    return Reply(text.encode("ascii"), status=status, headers=headers)


def challenge() -> Reply:
    """Return a page that requires a proof of work."""
    return Reply(_CHALLENGE.encode("ascii"))


class Silence(Enum):
    """Ways of not answering at all."""

    HANG = auto()
    DROP = auto()


@dataclass(frozen=True, slots=True)
class SlowEngine:
    """An engine that takes `seconds`, while the instance waits `timeout`."""

    name: str
    seconds: float
    timeout: float


@dataclass(slots=True)
class Faults:
    """All faults; the default value is a healthy instance.

    Attributes:
        host: fault for every request, before anything else.
        prepared: answers by path, instead of the instance's own.
        refusal: how every search is refused, whatever the windows say.
        failed: engines that do not answer.
        all_failed: whether no engine answers, listed or not.
        slow_engines: engines that are late, or too late.
        latency: seconds before any answer.
        held: set when held requests may continue, or `None`.
        rewriter: prefix of the addresses of all rows; a relative one leads to the instance itself.
    """

    host: Reply | Silence | None = None
    prepared: dict[str, Reply] = field(default_factory=dict)
    refusal: Refusal | None = None
    failed: tuple[UnresponsiveEngine, ...] = ()
    all_failed: bool = False
    slow_engines: tuple[SlowEngine, ...] = ()
    latency: float = 0.0
    held: asyncio.Event | None = None
    rewriter: str | None = None

    def engines_time(self, limit: float | None) -> float:
        """Return the seconds that the instance waits for slow engines, as upstream without its own maximum.

        Args:
            limit: seconds the caller gives the engines, or `None`.
        """
        longest = max((engine.timeout for engine in self.slow_engines), default=0.0)
        most = longest if limit is None else min(limit, longest)
        return min(most, max((engine.seconds for engine in self.slow_engines), default=0.0))

    def late(self, limit: float | None) -> tuple[UnresponsiveEngine, ...]:
        """Return the engines for which the instance does not wait."""
        waited = self.engines_time(limit)
        return tuple(
            UnresponsiveEngine(engine=engine.name, reason="timeout")
            for engine in self.slow_engines
            if engine.seconds > waited
        )


Json = Mapping[str, object]

_URI = re.compile(r"(?:([^:/?#]+):)?(?://([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#(.*))?", re.DOTALL)
"""RFC 3986, appendix B: splits any text, broken addresses too."""


def search_document(text: str, page: ResultPage) -> dict[str, object]:
    """Return the answer to a search with `format=json`."""
    return {
        "query": text,
        "results": [_row(hit) for hit in page.hits],
        "answers": [_answer(answer) for answer in page.answers],
        "corrections": list(page.corrections),
        "infoboxes": [infobox_fields(box, box.engine or ENGINES[0]) for box in page.infoboxes],
        "suggestions": list(page.suggestions),
        "unresponsive_engines": [[each.engine, each.reason] for each in page.unresponsive_engines],
    }


def config_document(site: Site, engines: Sequence[FakeEngine], *, has_limiter: bool) -> Json:
    """Return `/config`: version, engines, and whether the limiter and its token are enabled."""
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
        # Upstream's public_instance enables the limiter and the token.
        "public_instance": site.link_token,
        "safe_search": 0,
        "version": site.version,
    }


def errors_document(failed: Iterable[UnresponsiveEngine]) -> Json:
    """Return `/stats/errors`: the error of each engine."""
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
        "parsed_url": _parsed_url(answer.url) if answer.url else None,
        "template": "answer/legacy.html",
        "answer": answer.text,
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


def _row(hit: Hit) -> Json:
    """Return one result."""
    core: dict[str, object] = {
        "url": hit.url or None,
        "title": hit.title,
        "content": hit.description,
        "template": f"{hit.template}.html",
        "engine": hit.engines[0] if hit.engines else "",
        "engines": list(hit.engines),
        "parsed_url": _parsed_url(hit.url) if hit.url else None,
        "positions": [hit.position] * len(hit.engines),
        "score": _score(len(hit.engines), hit.position),
        "category": hit.category,
        "priority": "",
        "thumbnail": hit.thumbnail or "",
        "img_src": "",
        "author": hit.author,
        **_dates(hit),
    }
    return core | _details(hit)


def _parsed_url(url: str) -> Sequence[str]:
    """Return the six parts of upstream's `parsed_url`."""
    match = _URI.fullmatch(url)
    scheme, netloc, path, query, fragment = match.groups("") if match else ("", "", url, "", "")
    return [scheme, netloc, path, "", query, fragment]


def _dates(hit: Hit) -> Json:
    if hit.published_at is None:
        return {"publishedDate": None, "pubdate": ""}
    when = datetime.fromisoformat(hit.published_at)
    return {
        "publishedDate": when.isoformat(),
        "pubdate": when.strftime("%Y-%m-%d %H:%M:%S%z"),
    }


def _score(engines: int, position: int) -> float:
    """Return upstream's `calculate_score` with all weights 1: Σ over engines of engines / position."""
    return engines * engines / position


def _details(hit: Hit) -> dict[str, object]:
    """Return the fields of the template."""
    for kind in TEMPLATES.keys() - {"video", "media"}:
        if (details := getattr(hit, kind)) is not None:
            return kind_fields(kind, details) | _besides(hit)
    return _played(hit)


def _besides(hit: Hit) -> dict[str, object]:
    """Return fields that rows of some kinds have upstream and that no client needs."""
    if hit.image:
        # Images never go through the image proxy here.
        thumbnail = hit.thumbnail or hit.image.url
        return {"thumbnail": "", "thumbnail_src": thumbnail, "formats": []}
    if hit.place:
        shape = {"type": "Point", "coordinates": [hit.place.longitude, hit.place.latitude]}
        return {"geojson": shape, "type": "place", "address_label": None}
    if hit.code:
        return {"code_language": hit.code.language or "<guess>", "hl_lines": []}
    if hit.facts is not None:
        return {"caption": "", "key_title": "", "value_title": ""}
    return {}


def _played(hit: Hit) -> dict[str, object]:
    player = hit.video or hit.media
    fields: dict[str, object] = {
        "length": _length(player) if player else None,
        "iframe_src": (player.embed_url or "") if player else "",
        "views": hit.video.views if hit.video else "",
        "metadata": "",
    }
    if hit.template == "videos":
        return fields
    sound = hit.media.audio_url if hit.media else None
    return fields | {"audio_src": sound or "", "open_group": False, "close_group": False}


def _length(player: Video | Media) -> float | str | None:
    """Return the length: upstream sends a number if its engine gave a duration, which it shows as `0:45:32`."""
    if player.seconds is not None and player.length == str(timedelta(seconds=player.seconds)):
        return player.seconds
    return player.length or None

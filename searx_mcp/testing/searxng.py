"""A SearXNG instance on loopback."""

import asyncio
import ssl
from collections.abc import Callable, Iterable, Mapping, Sequence
from http import HTTPStatus
from urllib.parse import urljoin

from aiohttp import web

from searx_mcp.models.hits import Answer, Infobox, ResultPage, UnresponsiveEngine
from searx_mcp.testing.instance import replies, theme
from searx_mcp.testing.instance.index import (
    CATEGORIES,
    FakeEngine,
    Index,
    InvalidParameterError,
    SearchQuery,
    read_format,
    read_query,
    rewritten,
)
from searx_mcp.testing.instance.replies import Faults, Reply, Silence, SlowEngine
from searx_mcp.testing.limiter import LINK_TOKEN, FakeLimiter, Refusal
from searx_mcp.testing.loopback import LoopbackServer, ReceivedRequest, never
from searx_mcp.testing.results import ENGINES, FakeResult

VERSION = "2026.8.22+9fea41204"

_ENGINES = tuple(FakeEngine(name, CATEGORIES) for name in ENGINES)
_REASONS = ("timeout", "Suspended: CAPTCHA", "Suspended: too many requests")


class FakeSearxng(LoopbackServer):
    """A SearXNG instance: answers searches in HTML and JSON, and fails in every known way.

    It uses a real socket and answers as SearXNG of August 2026 does: `/search` by GET and
    POST, `/`, `/healthz`, `/config`, `/stats/errors`, `/robots.txt`, 404 for the rest. Use it as an
    async context manager; configure `url` as an instance. Faults can be set at construction and
    changed by the methods below while it runs; `recover` ends all of them.

    Args:
        results: the rows, in order; without them, rows are generated from query and category.
        links: addresses for the generated rows, one row each, such as the `links` of a `FakeWeb`.
        pages: number of pages of generated rows.
        page_size: rows per page.
        answers, infoboxes, suggestions, corrections: content around the rows.
        formats: that the operator has enabled, of `html` and `json`; others are a 403.
        limiter: decides whether searches are refused; nothing is refused without one.
        link_token: the instance is public: pages link the limiter's stylesheet and load images
            through its proxy. Adds a `FakeLimiter` in real time if `limiter` is not given.
        engines: listed in `/config`; a search that none of them supports finds nothing. Without them,
            there are three that support every search.
        robots: the `/robots.txt` at the root of the origin; without it SearXNG's own, below the
            path prefix if there is one.
        engines_failed: see `fail_engines`.
        latency: see `slow`.
        hang: see `hang`.
        challenge: see `challenge`.
        status: see `fail`.
        redirect_to: see `redirect`.
        rewriter: see `rewrite`.
        raw_body, content_type: see `answer_with`; replaces every answer to a search.
        json_extra: additional or replaced top-level fields of JSON answers.
        path_prefix: path before everything, such as `/searx`.
        version: as shown in `/config` and the generator tag.
        ssl_context: serves https with this context instead of http.

    Raises:
        ValueError: an unknown format, or more than one of `hang`, `challenge`, `status` and
            `redirect_to`.
    """

    def __init__(
        self,
        *,
        results: Sequence[FakeResult] | None = None,
        links: Sequence[str] = (),
        pages: int = 3,
        page_size: int = 10,
        answers: Iterable[Answer] = (),
        infoboxes: Iterable[Infobox] = (),
        suggestions: Iterable[str] = (),
        corrections: Iterable[str] = (),
        formats: Iterable[str] = ("html",),
        limiter: FakeLimiter | None = None,
        link_token: bool = False,
        engines: Sequence[FakeEngine] | None = None,
        robots: str | None = None,
        engines_failed: bool | Sequence[tuple[str, str]] = False,
        latency: float = 0.0,
        hang: bool = False,
        challenge: bool = False,
        status: int | None = None,
        redirect_to: str | None = None,
        rewriter: str | None = None,
        raw_body: bytes | None = None,
        content_type: str = replies.HTML,
        json_extra: Mapping[str, object] | None = None,
        path_prefix: str = "",
        version: str = VERSION,
        ssl_context: ssl.SSLContext | None = None,
    ) -> None:
        super().__init__(self.respond, ssl_context=ssl_context)
        self._site = theme.Site(
            version=version,
            prefix=f"/{path_prefix.strip('/')}" if path_prefix.strip("/") else "",
            formats=tuple(formats),
            link_token=link_token,
        )
        self._engines = _ENGINES if engines is None else tuple(engines)
        self._index = Index(
            engines=self._engines,
            results=results,
            links=links,
            pages=pages,
            page_size=page_size,
            surroundings=ResultPage(
                answers=tuple(answers),
                infoboxes=tuple(infoboxes),
                suggestions=tuple(suggestions),
                corrections=tuple(corrections),
            ),
        )
        self._limiter = limiter or (FakeLimiter() if link_token else None)
        self._robots = robots
        self._json_extra = dict(json_extra or {})
        self._routes: dict[str, Callable[[ReceivedRequest], Reply]] = {
            "/": self._home,
            "/healthz": lambda _: Reply(b"OK", content_type="text/plain; charset=utf-8"),
            "/search": self._search,
            "/config": self._config,
            "/robots.txt": self._robots_txt,
            "/stats/errors": self._engine_errors,
            f"/client{LINK_TOKEN}.css": self._stylesheet,
        }
        self._faults = Faults()
        if sum((hang, challenge, status is not None, redirect_to is not None)) > 1:
            raise ValueError("choose one of hang, challenge, status and redirect_to")
        self.fail_engines(engines_failed)
        self.slow(latency)
        if hang:
            self.hang()
        if challenge:
            self.challenge()
        if status is not None:
            self.fail(status)
        if redirect_to is not None:
            self.redirect(redirect_to)
        if rewriter is not None:
            self.rewrite(rewriter)
        if raw_body is not None:
            self.answer_with(raw_body, content_type=content_type)

    @property
    def url(self) -> str:
        """The instance's base URL, ending in `/`."""
        return f"{self.base}{self._site.prefix}/"

    @property
    def searches(self) -> int:
        """The number of requests for `/search`, however they were answered."""
        path = f"{self._site.prefix}/search"
        return sum(request.path == path for request in self.requests)

    def fail_engines(self, failed: bool | Sequence[tuple[str, str]] = True) -> None:  # noqa: FBT001, FBT002 - reads as the constructor's argument
        """Make engines inside the instance fail: the answer is a 200 with fewer rows, or none.

        Args:
            failed: `True` for all of them, `False` for none, or pairs of engine and reason; rows
                that only these engines found are missing.
        """
        self._faults.all_failed = failed is True
        pairs = zip(ENGINES, _REASONS, strict=True) if failed is True else failed or ()
        self._faults.failed = tuple(
            UnresponsiveEngine(engine=engine, reason=reason) for engine, reason in pairs
        )

    def slow(self, latency: float) -> None:
        """Wait `latency` seconds before every answer."""
        self._faults.latency = latency

    def slow_engine(self, name: str, seconds: float, *, timeout: float = 3.0) -> None:
        """Make an engine take `seconds`; the instance waits `timeout`, or less if the caller says so.

        An engine that is too late is listed as a timeout, and rows that only it found are missing.
        """
        self._faults.slow_engines += (SlowEngine(name, seconds, timeout),)

    def hold(self) -> None:
        """Hold every request until `recover`, which lets all of them continue."""
        self._faults.held = asyncio.Event()

    def hang(self) -> None:
        """Accept every request and never answer; they end when the server is closed."""
        self._faults.host = Silence.HANG

    def drop(self) -> None:
        """Break the connection of every request without an answer."""
        self._faults.host = Silence.DROP

    def challenge(self) -> None:
        """Answer everything with a proof-of-work page, as a protecting proxy does."""
        self._faults.host = replies.challenge()

    def fail(self, status: int, headers: Mapping[str, str] | None = None) -> None:
        """Answer everything with a bare status and, if given, headers such as Retry-After."""
        self._faults.host = replies.plain_status(status, headers)

    def redirect(self, location: str) -> None:
        """Answer everything with a 302 to `location`."""
        self._faults.host = replies.redirect(location)

    def rewrite(self, prefix: str) -> None:
        """Route all rows through a rewriter: `prefix` and the row's address, percent-encoded.

        Args:
            prefix: such as `https://tracker.example.org/?to=`; a relative one leads to the instance itself.
        """
        self._faults.rewriter = prefix

    def lead_home(self) -> None:
        """Make all rows link to the instance itself."""
        self.rewrite("goto?url=")

    def answer_with(
        self,
        body: bytes,
        *,
        content_type: str = replies.HTML,
        status: int = 200,
        path: str = "/search",
    ) -> None:
        """Answer requests for one path with exactly this body, whatever the parameters."""
        self._faults.prepared[path] = Reply(body, content_type=content_type, status=status)

    def limit(self) -> None:
        """Refuse every search with 429, as when a window of the limiter is full."""
        self._faults.refusal = Refusal.TOO_MANY_REQUESTS

    def block(self) -> None:
        """Redirect every search to the home page, as the limiter does with suspicious addresses."""
        self._faults.refusal = Refusal.SENT_HOME

    def recover(self) -> None:
        """End every fault; the windows of a limiter do not change."""
        if self._faults.held is not None:
            self._faults.held.set()
        self._faults = Faults()

    async def respond(
        self, request: web.BaseRequest, received: ReceivedRequest
    ) -> web.StreamResponse:
        """Answer a request; extend it for what the faults and pages cannot do."""
        faults = self._faults
        if faults.latency:
            await asyncio.sleep(faults.latency)
        if faults.held is not None:
            await faults.held.wait()
            faults = self._faults
        if faults.host is Silence.HANG:
            await never()
        if faults.host is Silence.DROP:
            if request.transport is not None:
                request.transport.abort()
            await never()
        reply = faults.host if isinstance(faults.host, Reply) else self._route(received)
        is_search = received.path.endswith("/search") and reply.status == HTTPStatus.OK
        if faults.slow_engines and is_search:
            await asyncio.sleep(faults.engines_time(read_query(received.parameters).time_limit))
        return reply.response()

    def _route(self, received: ReceivedRequest) -> Reply:
        prefix = self._site.prefix
        if not received.path.startswith(f"{prefix}/"):
            if received.path == "/robots.txt" and self._robots is not None:
                return self._robots_txt(received)
            return self._missing(received)
        path = received.path.removeprefix(prefix)
        if path in self._faults.prepared:
            return self._faults.prepared[path]
        return self._refuse(path, received) or self._routes.get(path, self._missing)(received)

    def _refuse(self, path: str, received: ReceivedRequest) -> Reply | None:
        refusal = self._faults.refusal if path == "/search" else None
        if refusal is None and self._limiter is not None and path != "/healthz":
            if path == "/search":
                refusal = self._limiter.judge_search(received, link_token=self._site.link_token)
            else:
                refusal = self._limiter.judge_page(received)
        match refusal:
            case Refusal.TOO_MANY_REQUESTS:
                return replies.plain_status(HTTPStatus.TOO_MANY_REQUESTS)
            case Refusal.SENT_HOME:
                return replies.redirect(f"{self._site.prefix}/")
            case None:
                return None

    def _home(self, received: ReceivedRequest) -> Reply:
        if received.parameters.get("q"):
            target = f"{self._site.prefix}/search?{received.target.partition('?')[2]}"
            return replies.redirect(target, status=HTTPStatus.PERMANENT_REDIRECT)
        return replies.html(theme.home_page(self._site))

    def _missing(self, _: ReceivedRequest) -> Reply:
        return replies.html(theme.missing_page(self._site), status=HTTPStatus.NOT_FOUND)

    def _config(self, _: ReceivedRequest) -> Reply:
        has_limiter = self._limiter is not None
        document = replies.config_document(self._site, self._engines, has_limiter=has_limiter)
        return replies.document(document)

    def _robots_txt(self, received: ReceivedRequest) -> Reply:
        robots = self._robots if received.path == "/robots.txt" else None
        return replies.plain(replies.ROBOTS if robots is None else robots)

    def _engine_errors(self, _: ReceivedRequest) -> Reply:
        return replies.document(replies.errors_document(self._faults.failed))

    def _stylesheet(self, received: ReceivedRequest) -> Reply:
        if self._limiter is None or not self._site.link_token:
            return self._missing(received)
        self._limiter.ping(received)
        return Reply(b"", content_type="text/css; charset=utf-8")

    def _search(self, received: ReceivedRequest) -> Reply:
        parameters = received.parameters
        output = read_format(parameters)
        if output not in self._site.formats:
            return replies.plain_status(HTTPStatus.FORBIDDEN)
        if not parameters.get("q", "").strip():
            if output == "json":
                return replies.document({"error": "No query"}, status=HTTPStatus.BAD_REQUEST)
            return replies.html(theme.search_page(self._site))
        try:
            query = read_query(parameters)
        except InvalidParameterError as error:
            return self._bad_request(error, output)
        return self._found(query, output)

    def _bad_request(self, error: InvalidParameterError, output: str) -> Reply:
        if output == "json":
            return replies.document({"error": str(error)}, status=HTTPStatus.BAD_REQUEST)
        # Upstream's page does not say which parameter is invalid.
        page = theme.search_page(self._site, error="search error")
        return replies.html(page, status=HTTPStatus.BAD_REQUEST)

    def _found(self, query: SearchQuery, output: str) -> Reply:
        failed = (*self._faults.failed, *self._faults.late(query.time_limit))
        if self._faults.all_failed:
            page = ResultPage(unresponsive_engines=failed)
        else:
            page = self._index.find(query, failed)
        if self._faults.rewriter is not None:
            page = rewritten(page, urljoin(self.url, self._faults.rewriter))
        if output == "json":
            return replies.document(replies.search_document(query.text, page) | self._json_extra)
        return replies.html(theme.results_page(self._site, query, page))

"""The routes of the dashboard: the page with its statistics, its search, the login, and two static files."""

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from importlib.resources import files
from typing import Any, Final
from urllib.parse import parse_qs

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from searx_mcp.arguments import parse_search
from searx_mcp.errors import SearxMcpError
from searx_mcp.evidence.requests import StatusRequest
from searx_mcp.evidence.values import CorpusStatus
from searx_mcp.models.instance import PoolReport
from searx_mcp.models.progress import Progress
from searx_mcp.server.backend import Backend
from searx_mcp.server.counters import Counters
from searx_mcp.server.dashboard.markup import Html, element, join
from searx_mcp.server.dashboard.page import (
    SearchOutcome,
    dashboard_page,
    failed_outcome,
    found_outcome,
    login_page,
    problem_page,
    search_section,
    status_line,
)
from searx_mcp.server.events import note_failure
from searx_mcp.server.identity import Identity, identity_of
from searx_mcp.server.rest.encoding import build_response
from searx_mcp.server.rest.endpoint import unless_disconnected
from searx_mcp.server.rest.operation import Call, run_search, status_of
from searx_mcp.server.supervision import internal_error, supervise
from searx_mcp.server.web.access import Access
from searx_mcp.server.web.policy import (
    DASHBOARD_PATH,
    LOGIN_PATH,
    LOGOUT_PATH,
    SCRIPT_PATH,
    SEARXNG_PATH,
    STYLE_PATH,
    HttpRefusal,
    is_searxng_search,
)
from searx_mcp.settings.tools import Tool

_SNAPSHOT_SECONDS: Final = 2.0
"""Seconds for which all pages share a snapshot of the pool; each snapshot reads a database."""
_MOST_FIELDS: Final = 10
_HEADERS: Final = {
    "cache-control": "no-store",
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:;"
        " form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    # With no-referrer, browsers would send forms with the origin "null".
    "referrer-policy": "same-origin",
    "x-content-type-options": "nosniff",
}
_HTML: Final = {"content-type": "text/html; charset=utf-8"}
_FILES: Final = {
    STYLE_PATH: ("dashboard.css", "text/css"),
    SCRIPT_PATH: ("dashboard.js", "text/javascript"),
}


@dataclass(frozen=True, slots=True)
class _Snapshot:
    """A snapshot of the pool and the corpus."""

    report: PoolReport
    corpus: CorpusStatus | None
    at: float


def dashboard_routes(backend: Backend, access: Access) -> list[Route]:
    """Return the routes of the dashboard; without web_search in `server.tools` it has no search.

    Args:
        backend: performs the calls.
        access: checks the tokens.
    """
    dashboard, login = _Dashboard(backend, access), _Login(access)
    routes = [
        Route(DASHBOARD_PATH, dashboard.show, methods=["GET"]),
        Route(LOGIN_PATH, login.show, methods=["GET"]),
        Route(LOGIN_PATH, login.log_in, methods=["POST"]),
        Route(LOGOUT_PATH, login.log_out, methods=["POST"]),
        *(Route(path, _file(*each), methods=["GET"]) for path, each in _FILES.items()),
    ]
    if dashboard.offers(Tool.WEB_SEARCH):
        routes.append(Route(DASHBOARD_PATH, dashboard.search, methods=["POST"]))
    return routes


class _Dashboard:
    """Serves the dashboard page.

    Args:
        backend: performs the calls.
        access: tells whether a login is required.
    """

    def __init__(self, backend: Backend, access: Access) -> None:
        self._backend = backend
        self._access = access
        self._counters = backend.log.counters
        self._calls = CallsByMinute(lambda: asyncio.get_running_loop().time())
        backend.log.add_listener(self._calls)
        self._lock = asyncio.Lock()
        self._snapshots: dict[str, _Snapshot] = {}

    def offers(self, tool: Tool) -> bool:
        """Tell whether the server has a tool, for tokens that allow it."""
        return tool in (self._backend.settings.server.tools or tuple(Tool))

    async def show(self, request: Request) -> Response:
        """Return the page; redirect a SearXNG client, with its parameters, to the search."""
        if is_searxng_search(request.scope):
            query = request.scope["query_string"].decode("latin-1")
            path = SEARXNG_PATH.removeprefix("/")  # relative, since a proxy may add a prefix
            return RedirectResponse(f"{path}?{query}", HTTPStatus.PERMANENT_REDIRECT, _HEADERS)
        return await self._page(request, "", SearchOutcome())

    async def search(self, request: Request) -> Response:
        """Search, and return the page with the outcome."""
        query = (await _form(request)).get("q", "")
        log = self._backend.log.request(
            "dashboard",
            {"query": query},
            request_id=request.scope["state"]["request_id"],
            caller=identity_of(request.scope).name,
        )
        with log as keep:
            found = await unless_disconnected(request.receive, self._run_search(request, query))
            if found is None:
                note_failure("cancelled")
                return Response()  # the client has disconnected
            outcome, status = found
            keep(status, len(outcome.found or ""))
        self._snapshots.clear()  # the search has changed the pool
        return await self._page(request, query, outcome, status)

    async def _run_search(self, request: Request, query: str) -> tuple[SearchOutcome, int]:
        call = Call(
            backend=self._backend.within(identity_of(request.scope).namespace),
            arguments={"query": query, "fetch_content": False},
            listener=None,
        )
        try:
            defaults = self._backend.settings.search_defaults()
            response = await run_search(call, parse_search(call.arguments, defaults=defaults))
            return found_outcome(response), HTTPStatus.OK
        except SearxMcpError as error:
            failure = error
        except Exception:  # noqa: BLE001 - whatever failed, the user gets a page
            failure = internal_error()
        note_failure(failure.code.value)
        return failed_outcome(failure, call.limit), status_of(failure)

    async def _page(
        self, request: Request, query: str, outcome: SearchOutcome, status: int = HTTPStatus.OK
    ) -> Response:
        identity = identity_of(request.scope)
        try:
            snapshot = await self._snapshot(identity)
        except SearxMcpError as error:
            page = problem_page(status_line(failed_outcome(error, self._limit)))
            return await _html(page, request, status_of(error))
        may_search = self.offers(Tool.WEB_SEARCH) and identity.may(Tool.WEB_SEARCH)

        # As in /metrics: not every named token may see the activity of all callers.
        statistics = (
            throughput_facts(self._counters, self._calls.latest()) if identity.metrics else ()
        )

        def build() -> str:
            return dashboard_page(
                snapshot.report,
                statistics,
                snapshot.corpus,
                search_section(query, outcome) if may_search else None,
                has_login=self._access.wants_token,
            )

        return await _html(await asyncio.to_thread(build), request, status)

    @property
    def _limit(self) -> float:
        return self._backend.settings.server.tool_timeout

    async def _snapshot(self, identity: Identity) -> _Snapshot:
        """Return a snapshot of what this token may see, at most two seconds old.

        Raises:
            SearxMcpError: the pool cannot be read.
        """
        sees_corpus = self.offers(Tool.CORPUS_STATUS) and identity.may(Tool.CORPUS_STATUS)
        key = f"{identity.namespace} {sees_corpus}"
        backend = self._backend.within(identity.namespace)

        async def work(_: Progress) -> tuple[PoolReport, CorpusStatus | None]:
            async with backend.for_reports() as service:
                corpus = None
                if sees_corpus:
                    corpus = await service.corpus_status(StatusRequest(include_urls=False))
                return await service.instances(), corpus

        async with self._lock:
            now = asyncio.get_running_loop().time()
            snapshot = self._snapshots.get(key)
            if snapshot is None or now - snapshot.at >= _SNAPSHOT_SECONDS:
                report, corpus = await supervise(None, self._limit, work, otherwise="")
                snapshot = self._snapshots[key] = _Snapshot(report, corpus, now)
            return snapshot


class _Login:
    """Serves the login page.

    Args:
        access: checks the tokens.
    """

    def __init__(self, access: Access) -> None:
        self._access = access

    async def show(self, request: Request) -> Response:
        """Return the login page; redirect to the dashboard if no token is required."""
        if not self._access.wants_token:
            return _redirect(DASHBOARD_PATH)
        return await _html(login_page(), request)

    async def log_in(self, request: Request) -> Response:
        """Log a user in with a token."""
        token = (await _form(request)).get("token", "").strip()
        found = await self._access.log_in(request.scope, token.encode("utf-8", "replace"))
        if isinstance(found, HttpRefusal):
            headers = {"retry-after": str(found.retry_after)} if found.retry_after else {}
            return await _html(login_page(found.message), request, found.status, headers)
        answer = _redirect(DASHBOARD_PATH)
        answer.headers["set-cookie"] = found
        return answer

    async def log_out(self, _: Request) -> Response:
        """Log the user out."""
        answer = _redirect(LOGIN_PATH)
        answer.headers["set-cookie"] = self._access.log_out()
        return answer


def _file(name: str, kind: str) -> Any:  # noqa: ANN401 - an endpoint of Starlette
    content = files(__package__).joinpath(name).read_bytes()

    headers = {**_HEADERS, "content-type": f"{kind}; charset=utf-8", "cache-control": "max-age=60"}

    async def endpoint(request: Request) -> Response:
        return await build_response(content, request, headers)

    return endpoint


async def _form(request: Request) -> dict[str, str]:
    """Return the fields of a form; empty if there are too many."""
    body = await request.body()
    try:
        fields = parse_qs(body.decode("utf-8", "replace"), max_num_fields=_MOST_FIELDS)
    except ValueError:
        return {}
    return {name: values[0] for name, values in fields.items()}


async def _html(
    page: str,
    request: Request,
    status: int = HTTPStatus.OK,
    headers: Mapping[str, str] | None = None,
) -> Response:
    # Compression leaks nothing (BREACH): no page contains a secret, and only pages of this server can search.
    body = page.encode("utf-8", "replace")
    return await build_response(body, request, {**_HEADERS, **_HTML, **(headers or {})}, status)


def _redirect(path: str) -> Response:
    return RedirectResponse(path, HTTPStatus.SEE_OTHER, _HEADERS)


_MINUTES: Final = 60
_MINUTE: Final = 60.0
_MINUTE_BAR: Final = (4, 24)
"""Width and height of a minute in the chart, in pixels."""
_PERCENT: Final = 100
_CACHES: Final = {"Searches from the cache": "answers", "Pages from the cache": "pages"}


class CallsByMinute:
    """Counts the finished calls per minute, for an hour; a listener of `searx_mcp.telemetry`.

    Args:
        clock: monotonic time in seconds.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._ended: Counter[int] = Counter()

    def __call__(self, event: str, fields: Mapping[str, Any], /) -> None:
        """Count an event if it ends a call."""
        del fields
        if event in {"server.done", "server.response"}:
            now = self._minute()
            self._ended[now] += 1
            for minute in [each for each in self._ended if each <= now - _MINUTES]:
                del self._ended[minute]

    def latest(self) -> list[int]:
        """Return the calls of the last 60 minutes, the current minute last."""
        now = self._minute()
        return [self._ended[minute] for minute in range(now - _MINUTES + 1, now + 1)]

    def _minute(self) -> int:
        return int(self._clock() // _MINUTE)


def throughput_facts(counters: Counters, latest: list[int]) -> list[tuple[str, str]]:
    """Return the server's statistics since its start, as names and values.

    Args:
        counters: counters of the server.
        latest: calls per minute, from `CallsByMinute`.
    """
    calls = counters.calls.total()
    failed = calls - counters.calls.total(code="ok") - counters.calls.total(code="cancelled")
    facts = [
        ("Calls in the last hour", join((f"{sum(latest):,} ", _chart(latest)))),
        ("Calls since the start", f"{calls:,} ({failed:,} failed)"),
        ("Search requests sent", f"{counters.attempts.total():,}"),
    ]
    return facts + [
        (title, _share(counters, cache))
        for title, cache in _CACHES.items()
        if counters.lookups.total(cache=cache)
    ]


def _share(counters: Counters, cache: str) -> str:
    asked = counters.lookups.total(cache=cache)
    hits = asked - counters.lookups.total(cache=cache, result="miss")
    return f"{hits:,} of {asked:,} ({_PERCENT * hits // asked} %)"


def _chart(latest: list[int]) -> Html:
    """Build a bar chart: one bar per minute, as tall as the number of calls that ended in it."""
    width, height = _MINUTE_BAR
    most = max(latest)
    bars = (
        element(
            "rect",
            x=number * width,
            y=height - bar_height,
            width=width - 1,
            height=bar_height,
            class_="good",
        )
        for number, count in enumerate(latest)
        if (bar_height := max(2, round(height * count / most)) if count else 0)
    )
    size = width * len(latest)
    return element(
        "svg",
        *bars,
        role="img",
        aria_label=f"At most {most:,} {'call' if most == 1 else 'calls'} per minute",
        width=size,
        height=height,
        viewBox=f"0 0 {size} {height}",
    )

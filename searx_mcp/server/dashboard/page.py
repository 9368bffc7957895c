"""The pages of the dashboard as documents: one with everything, and one to log in.

What the server has done stands in the first: calls per minute, and totals of the counters in `/metrics`.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeAlias

from searx_mcp import __version__
from searx_mcp.models.evidence import CorpusStatus
from searx_mcp.models.instance import PoolReport
from searx_mcp.server.counters import Counters
from searx_mcp.server.dashboard.markup import Markup, element, joined, with_code
from searx_mcp.server.dashboard.pool import is_usable, pool_section, span
from searx_mcp.server.web.policy import LOGIN_PATH, LOGOUT_PATH, SCRIPT_PATH, STYLE_PATH

Facts: TypeAlias = Sequence[tuple[str, str]]


def dashboard_page(
    report: PoolReport,
    done: Facts,
    corpus: CorpusStatus | None,
    search: Markup | None,
    *,
    has_login: bool,
) -> str:
    """Write the dashboard.

    Args:
        report: of the pool.
        done: names and values of what the server has done; empty if the caller may not see them.
        corpus: what it holds; `None` if the caller may not see it.
        search: of `search_section`; `None` if the caller may not search.
        has_login: whether the caller can log out.
    """
    logout = element(
        "form", element("button", "Log out"), method="post", action=LOGOUT_PATH, class_="logout"
    )
    return _document(
        "searx-mcp dashboard",
        element("a", "Skip to the content", href="#main", class_="skip"),
        element(
            "header",
            element("h1", "searx-mcp"),
            element("small", __version__),
            element("p", id="live", class_="live", hidden=True),
            element("button", "Pause updates", id="pause", type="button", hidden=True),
            logout if has_login else None,
        ),
        element(
            "main",
            search,
            _overview(report, done, corpus),
            pool_section(report),
            id="main",
            tabindex="-1",
        ),
        script=True,
    )


def login_page(problem: str = "") -> str:
    """Write the login page.

    Args:
        problem: with the last attempt; empty if there was none.
    """
    form = element(
        "form",
        element("p", problem, role="alert", id="problem") if problem else None,
        # A password manager stores the token under this name.
        element(
            "input",
            name="user",
            autocomplete="username",
            value="searx-mcp",
            readonly=True,
            hidden=True,
        ),
        element("label", "Token", for_="token"),
        element(
            "input",
            id="token",
            name="token",
            type="password",
            required=True,
            autofocus=True,
            maxlength="1000",
            autocomplete="current-password",
            aria_invalid="true" if problem else None,
            aria_describedby="problem" if problem else None,
        ),
        element("button", "Log in"),
        method="post",
        action=LOGIN_PATH,
    )
    return _document(
        "Log in to searx-mcp",
        element("main", element("h1", "searx-mcp"), form, id="main", class_="login"),
    )


def problem_page(problem: Markup) -> str:
    """Write a page that says why the dashboard cannot be shown."""
    return _document(
        "searx-mcp dashboard", element("main", element("h1", "searx-mcp"), problem, id="main")
    )


def _document(title: str, *body: Markup | None, script: bool = False) -> str:
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("title", title),
        element("link", rel="icon", href="data:,"),
        element("link", rel="stylesheet", href=STYLE_PATH),
        element("script", src=SCRIPT_PATH, defer=True) if script else None,
    )
    return f"<!doctype html>{element('html', head, element('body', *body), lang='en')}"


def _overview(report: PoolReport, done: Facts, corpus: CorpusStatus | None) -> Markup:
    usable = sum(map(is_usable, report.instances))
    facts = [("Usable now", f"{usable} of {len(report.instances)}")]
    if month := report.month:
        wait = f" (next in {span(month.retry_after)})" if month.retry_after else ""
        facts += [
            ("Public searches left now", f"{month.left_now}{wait}"),
            ("Public searches left in 30 days", f"{month.left_month:,} of {month.capacity:,}"),
        ]
    if (days := report.catalog_age_days) is not None:
        age = f"{days} {'day' if days == 1 else 'days'} old" if days else "less than a day old"
        facts.append(("Public list", age))
    if corpus is not None:
        size = f"{corpus.chunks:,} chunks, {corpus.bytes / 1e6:.1f} MB"
        facts.append(("Kept pages", f"{corpus.documents:,} ({size})"))
    facts += done
    notes = [element("li", with_code(note)) for note in report.notes]
    return element(
        "section",
        element("h2", "Overview", id="overview"),
        element(
            "dl",
            *(element("div", element("dt", name), element("dd", value)) for name, value in facts),
            id="facts",
            class_="facts",
            data_live=True,
        ),
        element("ul", *notes, id="notes", data_live=True, hidden=not notes),
        aria_labelledby="overview",
    )


_MINUTES: Final = 60
_MINUTE: Final = 60.0
_BAR: Final = (4, 24)
"""Width and height of a minute in the picture, in pixels."""
_PERCENT: Final = 100
_CACHES: Final = {"Searches from the cache": "answers", "Pages from the cache": "pages"}


class CallsByMinute:
    """Counts the calls that end, minute by minute, for an hour; a listener of `searx_mcp.telemetry`.

    Args:
        clock: seconds, from any start.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._ended: Counter[int] = Counter()

    def __call__(self, event: str, fields: Mapping[str, Any], /) -> None:
        """Count an event, if a call ends with it."""
        del fields
        if event in {"server.done", "server.response"}:
            now = self._minute()
            self._ended[now] += 1
            for minute in [each for each in self._ended if each <= now - _MINUTES]:
                del self._ended[minute]

    def latest(self) -> list[int]:
        """The calls of the last 60 minutes, the current one last."""
        now = self._minute()
        return [self._ended[minute] for minute in range(now - _MINUTES + 1, now + 1)]

    def _minute(self) -> int:
        return int(self._clock() // _MINUTE)


def throughput_facts(counters: Counters, latest: list[int]) -> list[tuple[str, str]]:
    """Give what the server has done since its start, as names and values.

    Args:
        counters: of the server.
        latest: of `CallsByMinute`.
    """
    calls = counters.calls.total()
    failed = calls - counters.calls.total(code="ok") - counters.calls.total(code="cancelled")
    facts = [
        ("Calls in the last hour", joined((f"{sum(latest):,} ", _picture(latest)))),
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


def _picture(latest: list[int]) -> Markup:
    """One bar per minute, as tall as the number of calls that ended in it."""
    width, height = _BAR
    most = max(latest)
    bars = (
        element(
            "rect",
            x=number * width,
            y=height - tall,
            width=width - 1,
            height=tall,
            class_="good",
        )
        for number, count in enumerate(latest)
        if (tall := max(2, round(height * count / most)) if count else 0)
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

"""Stack Exchange: excerpts of questions and answers by relevance, from one site at a time."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime, time
from typing import Final
from urllib.parse import SplitResult

from searx_mcp.content.values import Fields
from searx_mcp.models.attempt import Verdict
from searx_mcp.models.request import Category
from searx_mcp.sources.open.engine import (
    ANY_AGE,
    FORBIDDEN,
    Ask,
    Engine,
    EngineWords,
    OpenQuery,
    Parsed,
    RefusedError,
    Routing,
    Scope,
    lies_on,
)
from searx_mcp.sources.open.question import Signal
from searx_mcp.sources.open.rows import Rows, json_object, licensed, plain

NAME: Final = "stackexchange"
PER_PAGE: Final = 20
"""Rows that are requested: several may belong to one question, so about ten are left."""

HOSTS: Final[Mapping[str, str]] = {
    **{
        site: f"{site}.com"
        for site in ("stackoverflow", "superuser", "serverfault", "askubuntu")
    },
    **{
        site: f"{site}.stackexchange.com"
        for site in (
            "academia", "android", "apple", "biology", "chemistry", "codereview", "cooking", "cs",
            "datascience", "dba", "devops", "diy", "electronics", "english", "gamedev", "gaming",
            "gis", "history", "law", "math", "money", "music", "networkengineering", "philosophy",
            "photo", "physics", "raspberrypi", "security", "softwareengineering", "space", "stats",
            "tex", "travel", "unix", "webmasters", "workplace",
        )
    },
    **{f"{language}.stackoverflow": f"{language}.stackoverflow.com" for language in ("es", "ja", "pt", "ru")},
}  # fmt: skip
"""The web host of each site by its API name (api.stackexchange.com/docs/sites)."""

SITES: Final = frozenset(HOSTS)
_SITE_AT: Final = {host: site for site, host in HOSTS.items()}
_DEFAULT: Final = "stackoverflow"
"""The site for code that fits no other site."""
_ENGLISH: Final = frozenset({"en", "all", "auto"})

_DOMAINS: Final = (
    "stackoverflow.com",
    "stackexchange.com",
    "serverfault.com",
    "superuser.com",
    "askubuntu.com",
    "mathoverflow.net",
    "stackapps.com",
)
_QUESTION = re.compile(r"/(q|questions|a)/([0-9]{1,12})(?:/|$)")

_THROTTLE: Final = "throttle_violation"
_AWAY: Final = frozenset({"internal_error", "temporarily_unavailable"})
"""Error names (api.stackexchange.com/docs/error-handling)."""
_NOT_READ: Final = "bad_parameter"
_SECONDS: Final = re.compile(r"available in (\d{1,6}) seconds")
_OPERATOR: Final = re.compile(r"[\[\]]|(?<!\S)-+|(?<=\w):(?=\w)")
"""Syntax of the sites' search for a tag, an exclusion or a field; `std::vector` is none of them."""


def aim(scope: Scope) -> str:
    """Choose the site: by language, name or subject, else Stack Overflow."""
    local = f"{scope.language}.{_DEFAULT}"
    named = (_SITE_AT[site] for site in scope.question.sites if site in _SITE_AT)
    return local if local in SITES else next(named, "") or scope.question.topic or _DEFAULT


def ask(query: OpenQuery) -> Ask | None:
    """Search the chosen site, else Stack Overflow in the query's language."""
    site = _site(query)
    words = " ".join(_OPERATOR.sub(" ", query.text).split())
    if not site or not words:
        return None
    parameters = {"q": words, "site": site, "page": str(query.page), "pagesize": str(PER_PAGE)}
    if query.since:
        first = datetime.combine(query.since, time.min, query.now.tzinfo)
        parameters["fromdate"] = str(int(first.timestamp()))
    return Ask(parameters)


def parse(body: bytes, query: OpenQuery) -> Parsed:
    """Parse `items` and keep the best of each question; addresses are built from ids."""
    answer = json_object(body)
    if refusal := _refusal(answer):
        raise refusal
    if "items" not in answer:
        raise ValueError("the answer has no items")
    host = HOSTS[_site(query) or _DEFAULT]
    rows = Rows(NAME, query)
    questions = set()
    for item in answer.parts("items"):
        question = item.count("question_id")
        if question is None or question in questions:
            rows.skip()
            continue
        questions.add(question)
        # The question's address also for an answer, so that both count as one page.
        place = item.count("answer_id")
        title, author = plain(item.text("title")), plain(item.part("owner").text("display_name"))
        licence = {"author": f"{author or 'users'} on {host}", "licence": "CC BY-SA"}
        rows.add(
            f"https://{host}/q/{question}{'' if place is None else f'#{place}'}",
            title,
            description=f"{plain(item.text('excerpt'))} ({_standing(item)})",
            published=str(item.count("creation_date") or ""),
            author=author,
            attribution=licensed(title, licence),
        )
    return rows.parsed(has_next=answer.flag("has_more"), pause=_pause(answer, query.now))


def identify(host: str, parts: SplitResult) -> str:
    """Return the question or answer at an address."""
    found = _QUESTION.match(parts.path)
    if found is None or not any(lies_on(host, domain) for domain in _DOMAINS):
        return ""
    kind = "answer:" if found[1] == "a" else ""
    return f"{NAME}:{host}:{kind}{int(found[2])}"


def read_refusal(status: int, headers: Mapping[str, str], body: bytes) -> RefusedError | None:  # noqa: ARG001 - the form of every engine's
    """Parse an error, which always has status 400."""
    try:
        return _refusal(json_object(body))
    except ValueError:
        return None


def _site(query: OpenQuery) -> str:
    """Return the site to ask; empty if none is in the query's language."""
    aim = query.aim if query.aim in SITES else _DEFAULT
    if query.spoken in _ENGLISH or aim.startswith(f"{query.spoken}."):
        return aim
    local = f"{query.spoken}.{aim}"
    return local if local in SITES else ""


def _standing(item: Fields) -> str:
    """Describe a row's score and state in a few words."""
    is_answer = item.line("item_type") == "answer"
    score = item.number("score")
    answers = item.count("answer_count")
    facts = [
        "answer" if is_answer else "question",
        "accepted" if item.flag("is_accepted") else "",
        "has an accepted answer" if item.flag("has_accepted_answer") else "",
        "" if answers is None or is_answer else f"answers: {answers}",
        "" if score is None else f"score: {score:.0f}",
        *(f"[{tag}]" for tag in item.lines("tags", 40)[:5]),
    ]
    return ", ".join(filter(None, facts))


def _pause(answer: Fields, now: datetime) -> float | None:
    """Return the requested pause in seconds; with no requests left, until the counted day ends."""
    if answer.count("quota_remaining") == 0:
        utc = now.astimezone(UTC)
        gone = (utc - datetime.combine(utc.date(), time.min, UTC)).total_seconds()
        return max(86_400 - gone, answer.count("backoff") or 0.0)
    backoff = answer.count("backoff")
    return None if backoff is None else float(backoff)


def _refusal(answer: Fields) -> RefusedError | None:
    """Classify an answer with `error_name`; its message may say how long to wait."""
    name = answer.line("error_name", 40)
    if not name:
        return None
    if name == _NOT_READ and answer.line("error_message").startswith("`key`"):
        detail = "Stack Exchange rejected open_sources.stackexchange_key."
        return RefusedError(Verdict.REFUSED, detail, pause=FORBIDDEN)
    if name != _THROTTLE:
        verdict = Verdict.SERVER_ERROR if name in _AWAY else Verdict.REFUSED
        return RefusedError(verdict, f"Stack Exchange answered {name}.", ours=name == _NOT_READ)
    seconds = _SECONDS.search(answer.line("error_message"))
    pause = float(seconds[1]) if seconds else None
    return RefusedError(
        Verdict.RATE_LIMITED, "Stack Exchange allows no more requests for now.", pause=pause
    )


ENGINE: Final = Engine(
    name=NAME,
    title="Stack Exchange",
    operator="Stack Exchange Inc., US",
    categories={Category.GENERAL: 1, Category.IT: 4},
    endpoint="https://api.stackexchange.com/2.3/search/excerpts",
    parameters={"order": "desc", "sort": "relevance"},
    ask=ask,
    parse=parse,
    aim=aim,
    read_refusal=read_refusal,
    weight=1.2,
    # It allows 300 requests a day per address without a key, 10,000 with one.
    gap=1.0,
    per_day=250,
    key_parameter="key",
    per_day_with_key=9_000,
    timeout=5.0,
    licence="Questions and answers from Stack Exchange are CC BY-SA; name the site and the author.",
    time_ranges=ANY_AGE,
    languages=frozenset({"en"}),
    languages_of_code=frozenset({"es", "ja", "pt", "ru"}),
    identify=identify,
    hosts=_DOMAINS,
    filters_language=True,
    routing=Routing(
        signals={Signal.CODE: 3, Signal.ERROR: 2, Signal.VULNERABILITY: 0.5},
        within={
            Category.IT: {Signal.ERROR: 3, Signal.CODE: 2, Signal.HOW_TO: 1},
        },
        topic=0.9,
        topic_how_to=2.5,
        further={"code": 2, "q&a": 1, "software wikis": 1},
    ),
    words=EngineWords(
        names=(
            "stackoverflow stack_overflow stackexchange stack_exchange superuser "
            "serverfault askubuntu"
        ),
        frames="stack_overflow stackoverflow on_stackoverflow on_stack_overflow",
    ),
    key_setting=lambda config: config.stackexchange_key,
    terms_url="https://api.stackexchange.com/docs/throttle",
    terms_checked="2026-11",
    also=("stackoverflow", "askubuntu", "superuser"),
)

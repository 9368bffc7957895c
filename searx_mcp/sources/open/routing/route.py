"""Chooses the engines that a question is for, and says why."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Final

from searx_mcp.models.request import Category, TimeRange
from searx_mcp.sources.open.engine import Engine
from searx_mcp.sources.open.engines.stackexchange import HOSTS
from searx_mcp.sources.open.identity import voter
from searx_mcp.sources.open.routing.analyze_query import Question
from searx_mcp.sources.open.routing.plans import BASE, FURTHER, Plan
from searx_mcp.sources.open.routing.scoring import AWAY, Score, points_of, scores_of
from searx_mcp.sources.open.routing.subjects import Signal
from searx_mcp.sources.open.routing.topics import DEFAULT, LANGUAGES

_SITE_AT: Final = {host: site for site, host in HOSTS.items()}
"""Stack Exchange's api name of a site by its host."""

_FORMS: Final[Mapping[Signal, Mapping[str, str]]] = {
    Signal.IMAGE: {"commons": "bitmap|drawing", "openverse": "images", "internetarchive": "image"},
    Signal.VIDEO: {"commons": "video", "internetarchive": "movies"},
    Signal.SOUND: {"commons": "audio", "openverse": "audio", "internetarchive": "audio"},
    Signal.MUSIC: {"commons": "audio", "openverse": "audio", "internetarchive": "audio"},
}
"""Which part of a collection of several media a general question means."""


@dataclass(frozen=True, slots=True)
class Choice:
    """An engine to ask.

    Attributes:
        engine: its name.
        factor: of its vote: 1 on its own route, less on another.
        aim: which part of it is meant; empty leaves that to the engine and the category.
    """

    engine: str
    factor: float
    aim: str = ""


@dataclass(frozen=True, slots=True)
class Route:
    """Who is asked, and why.

    Attributes:
        choices: the engines, best first; none if nobody is to be asked.
        category: the one of the nine that was meant; `None` where no open collection serves it.
        why: a few words for a person, never of the query.
    """

    choices: tuple[Choice, ...]
    category: Category | None
    why: str


def route(
    question: Question,
    *,
    category: str,
    language: str,
    time_range: TimeRange,
    engines: Mapping[str, Engine],
    wanted: Collection[str] = (),
) -> Route:
    """Choose whom to ask; the same for the same arguments.

    Args:
        question: as read.
        category: one of the nine or a further one of SearXNG, in any case.
        language: `all`, `auto`, two letters or a region.
        time_range: how old a result may be.
        engines: those that may be asked, by name.
        wanted: engines that the caller asks for by their names here or in SearXNG; empty means any.
    """
    name = category.lower().strip()
    plan = _plan(name)
    if question.looks_secret:
        return Route(
            (), plan and plan.category, f"the query holds what looks like {question.secret}"
        )
    if plan is None and not wanted:
        return Route((), None, f"no engine serves the category {name}")
    plan = plan or Plan(Category.GENERAL)
    fitting = {
        engine.name: engine
        for engine in engines.values()
        if _speaks(engine, question, language) and _is_on(engine, question)
    }
    if wanted:
        asked_for = {voter(each) for each in wanted}
        return _chosen_by_caller(
            question,
            plan,
            language,
            time_range,
            {k: v for k, v in fitting.items() if k in asked_for},
        )
    scores, why = scores_of(question, plan, fitting, time_range)
    if not scores:
        return Route((), plan.category, _nobody(question, language))
    choices = [
        _choice(engine, question, plan, language, factor)
        for engine, factor in _ordered(scores, fitting, time_range)
    ]
    return Route(tuple(choices), plan.category, why)


def _plan(name: str) -> Plan | None:
    return Plan(Category(name)) if name in set(Category) else FURTHER.get(name)


def _speaks(engine: Engine, question: Question, language: str) -> bool:
    """Whether an engine has anything in a language; Stack Exchange has only code in others than English."""
    spoken = language.partition("-")[0].lower()
    if spoken in {"en", "all", "auto", ""} or not engine.languages:
        return True
    if spoken not in engine.languages:
        return False
    return engine.name != "stackexchange" or Signal.CODE in question.signals


def _is_on(engine: Engine, question: Question) -> bool:
    """Whether results of an engine may lie on the sites that a question asks for."""
    if not engine.hosts:
        return True
    if question.sites:
        return any(_fits(host, site) for host in engine.hosts for site in question.sites)
    return not all(
        any(_lies_on(host, site) for site in question.not_sites) for host in engine.hosts
    )


def _fits(host: str, site: str) -> bool:
    return _lies_on(host, site) or _lies_on(site, host)


def _lies_on(host: str, site: str) -> bool:
    return host == site or host.endswith(f".{site}")


def _nobody(question: Question, language: str) -> str:
    if question.sites:
        return "no engine has results on that site"
    return f"no engine serves that in {language}"


def _chosen_by_caller(
    question: Question,
    plan: Plan,
    language: str,
    time_range: TimeRange,
    engines: Mapping[str, Engine],
) -> Route:
    """All engines that the caller named; the category is theirs, if they have none of the one given."""
    if not engines:
        return Route(
            (),
            plan.category,
            "none of the engines asked for is among the open sources in use, or fits",
        )
    served = [engine for engine in engines.values() if plan.category in engine.categories]
    if not served and plan.category is Category.GENERAL:
        plan = Plan(_home(next(iter(engines.values()))))
    points, _ = points_of(question, question.signals)
    scores = {name: Score(points.get(name, 0), 1.0) for name in engines}
    choices = [
        _choice(name, question, plan, language, factor)
        for name, factor in _ordered(scores, engines, time_range)
    ]
    return Route(tuple(choices), plan.category, "engines asked for")


def _home(engine: Engine) -> Category:
    """What an engine is asked for that has no part in general questions: the category it stands first in."""
    return max(
        (category for category in Category if category in engine.categories),
        key=lambda category: BASE[category].get(engine.name, 0),
    )


def _ordered(
    scores: Mapping[str, Score], engines: Mapping[str, Engine], time_range: TimeRange
) -> list[tuple[str, float]]:
    """The engines with their factors, best first; behind them those that cannot filter by age."""
    blind = {
        name
        for name in scores
        if time_range is not TimeRange.ANY and time_range not in engines[name].time_ranges
    }
    ranked = sorted(scores, key=lambda name: (name in blind, -scores[name].points, name))
    return [(name, scores[name].factor * (AWAY if name in blind else 1)) for name in ranked]


def _choice(engine: str, question: Question, plan: Plan, language: str, factor: float) -> Choice:
    return Choice(engine, factor, _aim(engine, question, plan, language))


def _aim(engine: str, question: Question, plan: Plan, language: str) -> str:
    signals = question.signals
    aim = ""
    match engine:
        case "stackexchange":
            local = LANGUAGES.get(language.partition("-")[0].lower())
            named = (_SITE_AT[site] for site in question.sites if site in _SITE_AT)
            aim = local or next(named, "") or question.topic or DEFAULT
        case "github":
            is_flaw = (
                signals & {Signal.ERROR, Signal.VULNERABILITY} and Signal.REPOSITORY not in signals
            )
            aim = "issues" if is_flaw else "repositories"
        case "huggingface":
            is_data = Signal.DATASET in signals and Signal.MODEL not in signals
            aim = "datasets" if is_data else "models"
        case "musicbrainz":
            aim = question.music
        case "internetarchive" if plan.engines and plan.category is Category.FILES:
            aim = "texts"
        case "internetarchive" if plan.category is Category.FILES or Signal.FILE in signals:
            aim = question.mediatype
        case _ if plan.category is Category.GENERAL:
            forms = (_FORMS[signal] for signal in Signal if signal in signals and signal in _FORMS)
            aim = next((form[engine] for form in forms if engine in form), "")
        case _:
            pass
    return aim

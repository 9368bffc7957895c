"""Chooses the engines for a question.

The points for an engine are in its row, see `Routing`; here they are added up.
"""

from collections.abc import Collection, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from typing import Final

from searx_mcp.models.request import Category, TimeRange
from searx_mcp.sources.open.engine import AWAY, Engine, Scope, lies_on
from searx_mcp.sources.open.question import Question, Signal
from searx_mcp.sources.open.table import ENGINES, voter

MAX_ENGINES: Final = 5
"""Maximum operators that receive a question without a category: as few as can answer it."""
_NEAR_ENOUGH: Final = 0.25
"""Minimum share of the best engine's points for asking another."""
_SURE: Final = 6.0
"""Cap on the best engine's points in that comparison: a better fit makes the others no worse."""
_HOME: Final = 2.0
"""Points from one signal that make a route an engine's own."""
_NAMED: Final = 4.0
"""Points for being asked for by name."""
_ECOSYSTEM: Final = 5.0
"""Points for having the requested kind of package."""
_FIRST: Final = 10.0
"""More than all points of a category: engines of a restricted category keep their order."""
_USUAL: Final = 1.0
"""Points in a category that an engine is restricted to and does not score itself."""

_FURTHER: Final[Mapping[str, Category]] = {
    "books": Category.FILES,
    "cargo": Category.IT,
    "code": Category.IT,
    "gallery": Category.IMAGES,
    "icons": Category.IMAGES,
    "lyrics": Category.MUSIC,
    "movies": Category.VIDEOS,
    "other": Category.GENERAL,
    "packages": Category.IT,
    "q&a": Category.IT,
    "radio": Category.MUSIC,
    "repos": Category.IT,
    "scientific publications": Category.SCIENCE,
    "software wikis": Category.IT,
    "tv": Category.VIDEOS,
    "web": Category.GENERAL,
    "wikimedia": Category.GENERAL,
}
"""The additional SearXNG categories that an open collection covers; others have no engine."""

_FIELDS: Final = frozenset({Signal.FORMAL, Signal.BIOMEDICAL})
_ABOUT_ITSELF: Final = frozenset({Signal.DEFINITION, Signal.ENTITY})
"""These ask what a thing is, including programs."""
_NOT_ASIDE: Final = frozenset(
    {
        Signal.PLACE,
        Signal.ENTITY,
        Signal.NEWS,
        Signal.IMAGE,
        Signal.VIDEO,
        Signal.MUSIC,
        Signal.SOUND,
        Signal.FILE,
    }
)
"""Questions of these kinds are answered elsewhere, even if a site has their words."""


@dataclass(frozen=True, slots=True)
class EngineChoice:
    """An engine to ask.

    Attributes:
        engine: its name.
        factor: of its vote: 1 on its own route, less on another.
        aim: the part of it to search; empty leaves that to the engine and the category.
    """

    engine: str
    factor: float
    aim: str = ""


@dataclass(frozen=True, slots=True)
class Route:
    """The engines to ask, and why.

    Attributes:
        choices: the engines, best first; empty if no engine should be asked.
        category: the one of the nine; `None` if no open collection serves it.
        why: a few words for a person, never from the query.
    """

    choices: tuple[EngineChoice, ...]
    category: Category | None
    why: str


@dataclass(frozen=True, slots=True)
class _Score:
    """Points for an engine, and the factor of its vote."""

    points: float
    factor: float


def route(
    question: Question,
    *,
    category: str,
    language: str,
    time_range: TimeRange,
    engines: Mapping[str, Engine],
    wanted: Collection[str] = (),
) -> Route:
    """Choose the engines to ask; deterministic.

    Args:
        question: the parsed question.
        category: one of the nine or an additional SearXNG category, in any case.
        language: `all`, `auto`, two letters or a region.
        time_range: maximum age of a result.
        engines: those that may be asked, by name.
        wanted: engines that the caller names, as here or in SearXNG; empty means any.
    """
    name = category.lower().strip()
    meant = Category(name) if name in set(Category) else _FURTHER.get(name)
    if question.secret:
        return Route((), meant, f"the query contains what looks like {question.secret}")
    if meant is None and not wanted:
        return Route((), None, f"no engine serves the category {name}")
    spoken = language.partition("-")[0].lower()
    further = name if name in _FURTHER else ""
    scope = Scope(question, meant or Category.GENERAL, further, spoken)
    fitting = {
        engine.name: engine
        for engine in engines.values()
        if _speaks(engine, question, spoken) and _is_on(engine, question)
    }
    if wanted:
        asked_for = {voter(each) for each in wanted}
        fitting = {name: engine for name, engine in fitting.items() if name in asked_for}
        scope = _at_home(scope, fitting)
        points, _ = _points_of(question, question.signals)
        scores = {name: _Score(points.get(name, 0), 1.0) for name in fitting}
        none = "none of the requested engines is enabled and suitable"
        why = "engines asked for" if scores else none
    else:
        scores, why = _scores_of(scope, fitting, time_range)
        if not scores:
            why = _nobody(question, language)
    choices = []
    for name, factor in _ordered(scores, fitting, time_range):
        aim = fitting[name].aim
        choices.append(EngineChoice(name, factor, aim(scope) if aim else ""))
    return Route(tuple(choices), scope.category, why)


def _speaks(engine: Engine, question: Question, spoken: str) -> bool:
    """Return whether an engine has content in a language."""
    if spoken in {"en", "all", "auto", ""} or not engine.languages:
        return True
    is_code = Signal.CODE in question.signals
    return spoken in engine.languages or (is_code and spoken in engine.languages_of_code)


def _is_on(engine: Engine, question: Question) -> bool:
    """Return whether an engine may have results on the sites that a question asks for."""
    if not engine.hosts:
        return True
    if question.sites:
        return any(
            lies_on(host, site) or lies_on(site, host)
            for host in engine.hosts
            for site in question.sites
        )
    return not all(any(lies_on(host, site) for site in question.not_sites) for host in engine.hosts)


def _nobody(question: Question, language: str) -> str:
    if question.sites:
        return "no engine has results on that site"
    return f"no engine searches that in {language}"


def _at_home(scope: Scope, engines: Mapping[str, Engine]) -> Scope:
    """Return the scope for named engines: their own category, if none has a part in general ones."""
    is_served = any(scope.category in engine.categories for engine in engines.values())
    if is_served or scope.category is not Category.GENERAL or not engines:
        return scope
    points = next(iter(engines.values())).categories
    own = (category for category in Category if category in points)
    return replace(scope, category=max(own, key=lambda each: points[each]), further="")


def _ordered(
    scores: Mapping[str, _Score], engines: Mapping[str, Engine], time_range: TimeRange
) -> list[tuple[str, float]]:
    """Return the engines with their factors, best first, then those that cannot filter by age."""
    blind = {
        name
        for name in scores
        if time_range is not TimeRange.ANY and time_range not in engines[name].time_ranges
    }
    ranked = sorted(scores, key=lambda name: (name in blind, -scores[name].points, name))
    return [(name, scores[name].factor * (AWAY if name in blind else 1)) for name in ranked]


def _scores_of(
    scope: Scope, engines: Mapping[str, Engine], time_range: TimeRange
) -> tuple[dict[str, _Score], str]:
    """Return the engines to ask by name, and the reason in a few words."""
    question, found = scope.question, scope.question.identifier
    if found and scope.category in {Category.GENERAL, Category.SCIENCE}:
        for engine in ENGINES:
            if engine.name in engines and found.kind in engine.finds:
                return {engine.name: _Score(1, 1)}, f"an identifier, {found.kind}"
    confined = sorted(
        (engine.routing.further[scope.further], engine.name)
        for engine in ENGINES
        if scope.further in engine.routing.further
    )
    if scope.category is Category.GENERAL and not confined:
        return _general(question, engines, time_range)
    return _within(question, scope.category, [name for _, name in confined], engines)


def _within(
    question: Question, category: Category, confined: Sequence[str], engines: Mapping[str, Engine]
) -> tuple[dict[str, _Score], str]:
    """Score the engines of a requested category: all of them, and those whose subject is named.

    Args:
        question: the parsed question.
        category: the requested one.
        confined: the engines that it is restricted to, best first; empty means all of it.
        engines: those that may be asked, by name.
    """
    signals = question.signals
    fields = signals & _FIELDS if category is Category.SCIENCE else frozenset()
    is_open = bool(confined) and question.ecosystem is None
    told = [
        signal
        for signal in Signal
        if signal in signals
        and any(signal in engine.routing.within.get(category, {}) for engine in ENGINES)
    ]
    scores = {}
    for place, name in enumerate(confined or engines):
        engine = engines.get(name)
        if engine is None or not (confined or category in engine.categories):
            continue
        routing = engine.routing
        is_subject = _is_subject(engine, question)
        is_named = name in question.named or is_subject
        if engine.triggered and not is_named and not (is_open and routing.is_registry):
            continue
        homes = routing.homes.get(category)
        if category is Category.SCIENCE and homes and not fields:
            homes = None  # any of them may have a work of an unknown field
        if fields and homes and homes.isdisjoint(fields) and not is_named:
            continue  # a collection of another field
        points = engine.categories.get(category, _USUAL) + _NAMED * (name in question.named)
        points += sum(routing.within.get(category, {}).get(signal, 0) for signal in told)
        if confined:
            points += _FIRST * (len(confined) * is_subject - place)
        is_home = homes is None or is_named or not homes.isdisjoint(signals)
        scores[name] = _Score(points, 1.0 if is_home else AWAY)
    why = f"category {category}" + (f": {_joined([*map(str, told)])}" if told else "")
    return scores, why


def _is_subject(engine: Engine, question: Question) -> bool:
    """Return whether a question names the subject of a triggered engine."""
    return question.ecosystem is not None and question.ecosystem is engine.routing.ecosystem


def _general(
    question: Question, engines: Mapping[str, Engine], time_range: TimeRange
) -> tuple[dict[str, _Score], str]:
    """Score the few engines for a question without a category."""
    signals = set(question.signals)
    is_code = Signal.CODE in signals
    if time_range in {TimeRange.DAY, TimeRange.WEEK} and not is_code:
        signals.add(Signal.NEWS)
    points, own = _points_of(question, signals)
    if question.sites:
        # Engines with results from anywhere may or may not have any from there.
        for name in (name for name, engine in engines.items() if engine.hosts):
            points[name] = max(points.get(name, 0), _HOME)
            own.add(name)
    ranked = sorted(
        (name for name in points if name in engines and _may_be_asked(engines[name], question)),
        key=lambda name: (-points[name], name),
    )
    least = _NEAR_ENOUGH * min(_SURE, points[ranked[0]]) if ranked else 0.0
    is_faint = is_code and not signals & _ABOUT_ITSELF
    scores: dict[str, _Score] = {}
    has_slow = False
    for name in ranked:
        engine = engines[name]
        is_spare = points[name] < least and not engine.routing.anyway
        if len(scores) == MAX_ENGINES or is_spare or (has_slow and engine.is_slow):
            continue
        has_slow |= engine.is_slow
        away = engine.routing.on_code if is_faint else AWAY
        scores[name] = _Score(points[name], 1.0 if name in own else away)
    if is_code:
        signals.discard(Signal.TECHNOLOGY)
    why = [
        str(signal)
        for signal in Signal
        if signal in signals and any(signal in engine.routing.signals for engine in ENGINES)
    ]
    if _is_aside(question, signals) and any(engines[name].routing.topic for name in scores):
        why.append(question.topic)
    return scores, _joined(why) or "no special subject"


def _points_of(
    question: Question, signals: AbstractSet[Signal]
) -> tuple[dict[str, float], set[str]]:
    """Return the points of each engine for a question without a category.

    Args:
        question: the parsed question.
        signals: its subjects, and further evidence for them.

    Returns:
        Points by name, without zeros, and the engines whose own route it is.
    """
    if Signal.CODE in signals:
        signals = signals - {Signal.TECHNOLOGY}
    points: dict[str, float] = {}
    own = set()
    for engine in ENGINES:
        grants = [*_grants(engine, question, signals)]
        if any(grant >= _HOME for grant in grants):
            own.add(engine.name)
        is_lost = engine.routing.topic and not question.topic and engine.name not in question.named
        total = sum(grants, start=engine.routing.anyway)
        # Without a matching site, its search is wasted.
        if total > 0 and not is_lost:
            points[engine.name] = total
    usual = {engine.name for engine in ENGINES if engine.routing.anyway}
    web = {engine.name for engine in ENGINES if engine.is_web_index}
    return points, own | web if own else usual


def _grants(engine: Engine, question: Question, signals: AbstractSet[Signal]) -> list[float]:
    """Return the points that a question gives an engine, one for each reason."""
    routing = engine.routing
    grants = [
        routing.signals[signal]
        for signal in Signal
        if signal in signals and signal in routing.signals
    ]
    grants += [points for pair, points in routing.pairs.items() if pair <= signals]
    if routing.topic and _is_aside(question, signals):
        grants.append(routing.topic_how_to if Signal.HOW_TO in signals else routing.topic)
    if _is_subject(engine, question):
        grants.append(_ECOSYSTEM)
    if engine.name in question.named:
        grants.append(_NAMED)
    return grants


def _is_aside(question: Question, signals: AbstractSet[Signal]) -> bool:
    """Return whether the question fits a site that is not about programs."""
    is_other = signals & _NOT_ASIDE and Signal.HOW_TO not in signals
    return bool(question.topic) and Signal.CODE not in signals and not is_other


def _may_be_asked(engine: Engine, question: Question) -> bool:
    return not engine.triggered or engine.name in question.named or _is_subject(engine, question)


def _joined(words: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(words[:-1]), *words[-1:])))

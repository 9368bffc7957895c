"""Weighs the engines that a question may be for."""

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Final

from searx_mcp.models.request import Category, TimeRange
from searx_mcp.sources.open.engine import Engine
from searx_mcp.sources.open.identifiers import LOOKUPS
from searx_mcp.sources.open.routing.analyze_query import Question
from searx_mcp.sources.open.routing.plans import (
    ANYWAY,
    ASIDE,
    BASE,
    BOTH,
    ECOSYSTEM,
    HOME,
    LESSER,
    NAMED,
    REGISTRIES,
    SCORES,
    SUBJECT,
    WITHIN,
    Plan,
)
from searx_mcp.sources.open.routing.subjects import Ecosystem, Signal

MAX_ENGINES: Final = 5
"""Operators that are told a question of no category: as few as may answer it."""
AWAY: Final = 0.5
"""Of a vote on another route than the engine's own, or without the filter by age that was asked for."""
FAINT: Final = 0.3
"""Of an encyclopaedia's vote on code."""
_NEAR_ENOUGH: Final = 0.25
"""Share of the first engine's points from which on another is asked."""
_SURE: Final = 6.0
"""Points beyond which a better fit of one engine makes the others no worse."""
_FIRST: Final = 10.0
"""More than all points of a category: engines that a category is confined to keep their order."""
_FIELDS: Final = frozenset({Signal.FORMAL, Signal.BIOMEDICAL})
_ABOUT_ITSELF: Final = frozenset({Signal.DEFINITION, Signal.ENTITY})
"""These ask what a thing is, of programs too."""
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
"""Questions of these sorts are answered elsewhere, whatever site has their words."""


@dataclass(frozen=True, slots=True)
class Score:
    """What speaks for an engine.

    Attributes:
        points: the more, the better it fits.
        factor: of its vote.
    """

    points: float
    factor: float


def scores_of(
    question: Question, plan: Plan, engines: Mapping[str, Engine], time_range: TimeRange
) -> tuple[dict[str, Score], str]:
    """Weigh the engines that a question is for.

    Args:
        question: as read.
        plan: what its category means.
        engines: those that may be asked, by name.
        time_range: how old a result may be.

    Returns:
        The engines to ask by name, and why them, in a few words.
    """
    category = plan.category
    if category in {Category.GENERAL, Category.SCIENCE} and question.identifier:
        finders = LOOKUPS.get(question.identifier.kind, ())
        finder = next((name for name in finders if name in engines), None)
        if finder is not None:
            return {finder: Score(1, 1)}, f"an identifier, {question.identifier.kind}"
    if category is Category.GENERAL and not plan.engines:
        return _general(question, engines, time_range)
    return _within(question, plan, engines)


def _within(
    question: Question, plan: Plan, engines: Mapping[str, Engine]
) -> tuple[dict[str, Score], str]:
    """The engines of a category that was asked for: all of them, and those whose subject is named."""
    category = plan.category
    base, rules = BASE[category], WITHIN.get(category, {})
    lesser = LESSER.get(category, {})
    if category is Category.SCIENCE and not question.signals & _FIELDS:
        # A work of an unknown field may lie with any of them.
        lesser = {name: homes for name, homes in lesser.items() if not homes}
    fields = question.signals & _FIELDS if category is Category.SCIENCE else frozenset()
    told = [signal for signal in Signal if signal in question.signals and signal in rules]
    is_open = bool(plan.engines) and question.ecosystem is None
    scores = {}
    for place, name in enumerate(plan.engines or engines):
        engine = engines.get(name)
        if engine is None or not (plan.engines or category in engine.categories):
            continue
        is_subject = _is_subject(name, question)
        is_named = name in question.named or is_subject
        if engine.triggered and not is_named and not (is_open and name in REGISTRIES):
            continue
        homes = lesser.get(name)
        if fields and homes and homes.isdisjoint(fields) and not is_named:
            continue  # a collection of another field
        points = base.get(name, 1.0) + NAMED * (name in question.named)
        points += sum(rules[signal].get(name, 0) for signal in told)
        if plan.engines:
            points += _FIRST * (len(plan.engines) * is_subject - place)
        is_home = homes is None or is_named or not homes.isdisjoint(question.signals)
        scores[name] = Score(points, 1.0 if is_home else AWAY)
    why = f"category {category}" + (f": {_joined([*map(str, told)])}" if told else "")
    return scores, why


def _is_subject(name: str, question: Question) -> bool:
    """Whether a question names the kind of thing that a triggered engine has."""
    return question.ecosystem is not None and question.ecosystem == name


def _general(
    question: Question, engines: Mapping[str, Engine], time_range: TimeRange
) -> tuple[dict[str, Score], str]:
    """The few engines that a question of no category is for."""
    signals = set(question.signals)
    if time_range in {TimeRange.DAY, TimeRange.WEEK} and Signal.CODE not in signals:
        signals.add(Signal.NEWS)
    points, own = points_of(question, signals)
    if question.sites:
        # Of those that have results anywhere nobody knows whether any lies there.
        for name in (name for name, engine in engines.items() if engine.hosts):
            points[name] = max(points.get(name, 0), HOME)
            own.add(name)
    ranked = sorted(
        (name for name in points if name in engines and _may_be_asked(engines[name], question)),
        key=lambda name: (-points[name], name),
    )
    least = _NEAR_ENOUGH * min(_SURE, points[ranked[0]]) if ranked else 0.0
    is_faint = Signal.CODE in signals and not signals & _ABOUT_ITSELF
    away = {name: FAINT if name == "wikipedia" and is_faint else AWAY for name in ranked}
    scores: dict[str, Score] = {}
    has_slow = False
    for name in ranked:
        is_spare = points[name] < least and name not in ANYWAY
        if len(scores) == MAX_ENGINES or is_spare or (has_slow and engines[name].is_slow):
            continue
        has_slow |= engines[name].is_slow
        scores[name] = Score(points[name], 1.0 if name in own else away[name])
    if Signal.CODE in signals:
        signals.discard(Signal.TECHNOLOGY)
    why = [str(signal) for signal in Signal if signal in signals and signal in SCORES]
    if _is_aside(question, signals) and "stackexchange" in scores:
        why.append(question.topic)
    return scores, _joined(why) or "no special subject"


def points_of(
    question: Question, signals: AbstractSet[Signal]
) -> tuple[dict[str, float], set[str]]:
    """The points of each engine for a question of no category.

    Args:
        question: as read.
        signals: what it is about, with what else speaks for that.

    Returns:
        Points by name, none of them nothing, and the engines that are at home there.
    """
    if Signal.CODE in signals:
        signals = signals - {Signal.TECHNOLOGY}
    grants = [ANYWAY, *(SCORES[signal] for signal in Signal if signal in signals & SCORES.keys())]
    grants += [grant for both, grant in BOTH.items() if both <= signals]
    if _is_aside(question, signals):
        grants.append({"stackexchange": SUBJECT if Signal.HOW_TO in signals else ASIDE})
    if question.ecosystem not in {None, Ecosystem.OTHER}:
        grants.append({str(question.ecosystem): ECOSYSTEM})
    grants += [{name: NAMED} for name in sorted(question.named)]
    points: dict[str, float] = {}
    for name, more in ((name, more) for grant in grants for name, more in grant.items()):
        points[name] = points.get(name, 0) + more
    if not question.topic and "stackexchange" not in question.named:
        # Without a site that fits its search is spent in vain.
        points.pop("stackexchange", None)
    told = [grant for grant in grants if grant is not ANYWAY]
    own = {name for grant in told for name, more in grant.items() if more >= HOME}
    own = own | {"keenable"} if own else set(ANYWAY)
    return {name: each for name, each in points.items() if each > 0}, own


def _is_aside(question: Question, signals: AbstractSet[Signal]) -> bool:
    """Whether a site of Stack Exchange fits that is not about programs."""
    is_other = signals & _NOT_ASIDE and Signal.HOW_TO not in signals
    return bool(question.topic) and Signal.CODE not in signals and not is_other


def _may_be_asked(engine: Engine, question: Question) -> bool:
    return (
        not engine.triggered or engine.name in question.named or _is_subject(engine.name, question)
    )


def _joined(words: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(words[:-1]), *words[-1:])))

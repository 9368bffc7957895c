"""The relevance gate: drops hits that do not match the question.

Collections barely overlap, so each one's first row would rank among the first of the answer, whatever it is.
A row is kept if it contains at least half of the weight of the question's words.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Final, NamedTuple
from urllib.parse import urlsplit

from searx_mcp.content.words import FIGURE_WORDS, FUNCTION_WORDS, folded, stems, tokens
from searx_mcp.models.hits import Hit
from searx_mcp.models.request import Category
from searx_mcp.sources.open.engine import Engine, lies_on
from searx_mcp.sources.open.question import IdentifierKind, Question, Signal
from searx_mcp.sources.open.words import WORDS

_HALF: Final = 0.5
"""Share of the weight that a row must contain: one word of one, one of two, two of three, two of four."""
_THIRD: Final = 0.33
"""The same if the engine searched a text that it does not show."""
_ENOUGH: Final = 3.5
"""Weight that is always enough, however long the question: of twenty words no title contains ten."""

_PLENTY: Final = 3
"""Rows with more than half of the weight, from which one with exactly half is about something else."""
_SURE: Final = 9.0
"""The standing of a row that is always kept; those of others end at three."""
_HAIR: Final = 1e-6
"""Tolerance for inexact sums of weights."""

_NORMAL: Final = 1.0
_BROAD: Final = 0.6
"""A language or a tool is context of a question, not its subject: in `python snake` only the snake counts."""
_SHARED: Final = 0.8
"""Words of programming that are common in other subjects."""
_SLIGHT: Final = 0.5
"""Words for numbers, size and order, and years: properties of the subject, rarely the subject itself."""
_NOTHING: Final = 0.25
"""Words that occur in any text; long numbers, addresses and paths of error messages."""
_TELLING: Final = 0.6
"""Weight from which a single word may keep a row."""

_INITIALS: Final = 2
"""Letters of an abbreviated name, such as `JA`."""
_LONGER: Final = 8
"""Letters that count in a word if words of different meaning share its beginning."""
_ENDINGS: Final = ("ings", "ing", "ers", "ies", "ed", "er", "es", "e", "s", "y")
_SHORTEST: Final = 3

_ALIASES: Final = {
    "js": "javascript", "ts": "typescript", "k8s": "kubernetes", "py": "python", "db": "database", "auth": "authentication",
    "config": "configuration", "repo": "repository", "env": "environment", "app": "application", "docs": "documentation",
    "postgresql": "postgres", "golang": "go", "ml": "machine-learning", "ai": "artificial-intelligence", "regexp": "regex",
    "nodejs": "node", "psql": "postgres", "tv": "television", "uk": "united-kingdom", "usa": "united-states", "colour": "color",
    "nyc": "new-york", "covid19": "covid", "vscode": "visual-studio-code", "mt": "mount", "st": "saint", "ww2": "world-war-ii",
}  # fmt: skip
"""Words and their long forms."""
_SPECIAL: Final = {
    "c++": ("c++", "cpp"), "c#": ("c#", "csharp"), "f#": ("f#", "fsharp"), ".net": (".net", "dotnet"), "r&d": ("r&d",),
}  # fmt: skip
"""Names whose distinguishing characters are lost in tokenising, and their replacements."""

_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_JOINED = re.compile(r"(?<![^\W_])[^\W_]++(?:[-_./'][^\W_]++)++")
_VERSION = re.compile(r"v?([0-9]{1,9}(?:\.[0-9]{1,9}){0,5})")
_VERSIONS = re.compile(r"(?<![\w.])v?([0-9]{1,9}(?:\.[0-9]{1,9}){0,5})(?![\w]|\.[0-9])")
_YEAR = re.compile(r"(?:19|20)[0-9]{2}")
_NOISE = re.compile(r"0x[0-9a-f]+|[0-9]{6,}|(?:[a-z]:)?[/\\].*|.*[/\\].*[/\\].*|[0-9]+:[0-9]+")
_LATIN = re.compile(r"[a-z]")


class _Unit(NamedTuple):
    """A word of the question.

    Attributes:
        whole: keys of the word in one piece; any one is enough.
        pieces: keys of its parts, each a choice; empty if it has none.
        weight: its significance.
        special: texts, one of which must be there instead, if there are any.
        version: a dotted number that may be continued.
        is_phrase: whether it was quoted.
        initial: first letter of a name, as authors are abbreviated; empty for other words.
    """

    whole: frozenset[str]
    pieces: tuple[frozenset[str], ...]
    weight: float
    special: tuple[str, ...] = ()
    version: str = ""
    is_phrase: bool = False
    initial: str = ""


def relevant(hits: Sequence[Hit], question: Question, engine: Engine) -> tuple[Hit, ...]:
    """Return the rows that are relevant to a question, in their order.

    Args:
        hits: of one engine.
        question: the parsed question.
        engine: that found them. Results found by meaning, or by an identifier, are all kept.
    """
    allowed = [hit for hit in hits if _is_on_sites(hit, question)]
    if engine.is_semantic or _is_lookup(question, engine):
        return tuple(allowed)
    units = _units(question, engine)
    if not units:
        return tuple(allowed)
    titles = _equal_titles(question)
    standings = [
        _SURE if tuple(tokens(hit.title)) in titles else _standing(hit, units, question, engine)
        for hit in allowed
    ]
    has_plenty = sum(standing > 1 + _HAIR for standing in standings) >= _PLENTY
    least = 1 + _HAIR if has_plenty else 1 - _HAIR
    return tuple(hit for hit, standing in zip(allowed, standings, strict=True) if standing >= least)


def _is_on_sites(hit: Hit, question: Question) -> bool:
    try:
        host = (urlsplit(hit.url).hostname or "").rstrip(".")
    except ValueError:
        return not question.sites
    if question.sites and not any(lies_on(host, site) for site in question.sites):
        return False
    return not any(lies_on(host, site) for site in question.not_sites)


def _is_lookup(question: Question, engine: Engine) -> bool:
    found = question.identifier
    return found is not None and found.kind in engine.finds


def _equal_titles(question: Question) -> frozenset[tuple[str, ...]]:
    titles = (question.text, " ".join(question.words), " ".join(question.keywords))
    return frozenset(tuple(tokens(title)) for title in titles) - {()}


def _standing(hit: Hit, units: Sequence[_Unit], question: Question, engine: Engine) -> float:
    """Return the weight of the words in a row, as a multiple of the required weight."""
    row = _Row(hit)
    found = question.identifier
    if found and found.kind is IdentifierKind.CVE and found.value.lower() in row.text:
        return _SURE
    shares = [row.share(unit) for unit in units]
    pairs = list(zip(units, shares, strict=True))
    if any(unit.is_phrase and share < 1 for unit, share in pairs):
        return 0.0
    weights = [unit.weight for unit in units]
    held = sum(unit.weight * share for unit, share in pairs)
    if hit.place is not None and Category.MAP in engine.categories:
        # A place has a name in each language, and only one of them is shown.
        is_foreign = _LATIN.search(folded(question.text)) and not _LATIN.search(row.text)
        return _SURE if held or is_foreign else 0.0
    telling = min(_TELLING, max(weights, default=0))
    if not any(unit.weight >= telling and share >= _HALF for unit, share in pairs):
        return 0.0
    if _is_name(question, units):
        return _SURE if min(shares) >= _HALF else 0.0
    least = _THIRD if engine.searches_unseen else _HALF
    return held / min(least * sum(weights), _ENOUGH)


def _is_name(question: Question, units: Sequence[_Unit]) -> bool:
    """Return whether two words form a name, of which half may belong to someone else."""
    return (
        Signal.ENTITY in question.signals
        and len(units) == 2  # noqa: PLR2004 - a first and a last name
        and all(word[:1].isupper() for word in question.words)
        and all(unit.weight == _NORMAL for unit in units)
    )


def _units(question: Question, engine: Engine) -> tuple[_Unit, ...]:
    telling = [word for word in question.words if folded(word) not in engine.words.implied]
    phrases = set(question.phrases)
    is_name = Signal.ENTITY in question.signals
    units: dict[_Unit, None] = {}
    words = telling or question.words
    for place, word in enumerate(words):
        if word in phrases and " " in word:
            units[_phrase(word)] = None
            continue
        # Some write `fast api` as `fastapi`.
        pairs = (words[max(0, place - 1) : place + 1], words[place : place + 2])
        beside = frozenset(folded("".join(pair)) for pair in pairs if len(pair) > 1)
        for unit in _word_units(word, is_quoted=word in phrases, is_name=is_name):
            units[unit._replace(whole=unit.whole | beside)] = None
    return tuple(units)


def _phrase(text: str) -> _Unit:
    found = tokens(text)
    told = [token for token in found if token not in FUNCTION_WORDS] or found
    return _Unit(frozenset(), tuple(map(_keys, told)), _NORMAL * max(1, len(told)), is_phrase=True)


def _word_units(word: str, *, is_quoted: bool, is_name: bool) -> Iterator[_Unit]:
    plain = folded(word)
    weight = _weight(word, plain)
    if special := _SPECIAL.get(plain):
        yield _Unit(frozenset(), (), weight, special=special, is_phrase=is_quoted)
        return
    if number := _VERSION.fullmatch(plain):
        yield _Unit(_keys(number[1]), (), weight, version=number[1], is_phrase=is_quoted)
        return
    pieces = [piece for part in _CAMEL.split(word) for piece in tokens(part)]
    if not pieces:
        return
    joined = "".join(pieces)
    whole = (
        _keys(joined) | _keys(plain) if joined.isascii() or len(pieces) == 1 else frozenset({plain})
    )
    if alias := _ALIASES.get(joined):
        whole |= frozenset({alias.replace("-", "")}) | _keys(alias.replace("-", ""))
    initial = plain[0] if is_name and word[:1].isupper() and plain.isalpha() else ""
    several = tuple(map(_keys, pieces)) if len(pieces) > 1 else ()
    yield _Unit(whole, several, weight, is_phrase=is_quoted, initial=initial)


def _weight(word: str, plain: str) -> float:
    if _NOISE.fullmatch(plain) or (
        plain in WORDS["weak"] and plain not in WORDS["code"] | WORDS["ambiguous"]
    ):
        return _NOTHING
    if plain in FIGURE_WORDS or _YEAR.fullmatch(plain):
        return _SLIGHT
    is_camel = word[0].islower() and word != plain
    if (plain in WORDS["code"] or plain in WORDS["ambiguous"]) and not is_camel:
        return _BROAD
    return _SHARED if plain in WORDS["programming"] and word.islower() else _NORMAL


def _keys(token: str) -> frozenset[str]:
    """Return what two forms of a word share; a light stem is marked, so that it only matches light stems."""
    keys = {token}
    for stem in stems([token]) or [token]:
        is_false = stem in WORDS["false_friends"] and len(token) > len(stem)
        keys.add(token[:_LONGER] if is_false else stem)
    if token.isascii() and token.isalpha() and token[:6] not in WORDS["false_friends"]:
        keys.add(f"~{_light(token)}")
    return frozenset(keys)


def _light(token: str) -> str:
    for ending in _ENDINGS:
        if token.endswith(ending) and len(token) - len(ending) >= _SHORTEST:
            stem = token[: -len(ending)]
            is_doubled = stem[-1] == stem[-2] and stem[-1] not in "ls" and len(stem) > _SHORTEST
            return stem[:-1] if is_doubled else stem
    return token


class _Row:
    """The keys of a row that words are matched with."""

    def __init__(self, hit: Hit) -> None:
        texts = list(filter(None, _texts(hit)))
        self.text = folded(" \n".join(texts))
        found = tokens(self.text)
        self._tokens = found
        self._keys: set[str] = set()
        for token in {*found, *_joined(texts), *(a + b for a, b in pairwise(tokens(hit.title)))}:
            self._keys |= _keys(token)
            if alias := _ALIASES.get(token):
                self._keys |= _keys(alias.replace("-", ""))
        self._keys |= {first + second for first, second in pairwise(found)}
        self._versions = set(_VERSIONS.findall(self.text))
        authors = hit.paper.authors if hit.paper else ()
        self._initials = {
            letter
            for author in authors
            for token in tokens(author)
            if len(token) <= _INITIALS
            for letter in token
        }

    def share(self, unit: _Unit) -> float:
        """Return how well a row matches a word of the question, 0 to 1."""
        if unit.special:
            return float(any(text in self.text for text in unit.special))
        if unit.version and any(
            each == unit.version or each.startswith(f"{unit.version}.") for each in self._versions
        ):
            return 1.0
        if unit.whole & self._keys or (unit.initial and unit.initial in self._initials):
            return 1.0
        if not unit.pieces:
            return 0.0
        return sum(bool(piece & self._keys) for piece in unit.pieces) / len(unit.pieces)


def _texts(hit: Hit) -> Iterator[str]:
    yield from (hit.title, hit.description, hit.author)
    if hit.package:
        yield from (hit.package.name, *hit.package.tags)
    if hit.paper:
        yield from (*hit.paper.authors, hit.paper.journal, hit.paper.doi, *hit.paper.tags)
    if hit.place:
        place = hit.place
        yield from (
            place.name,
            place.road,
            place.house_number,
            place.locality,
            place.postcode,
            place.country,
        )
    if hit.file:
        yield from (hit.file.filename, hit.file.abstract)
    if hit.code:
        yield from (hit.code.repository, hit.code.filename)
    for fact in hit.facts or ():
        yield fact.value


def _joined(texts: Iterable[str]) -> Iterator[str]:
    """Yield words with punctuation or capitals inside, in one piece and in parts."""
    for text in texts:
        for word in text.split():
            parts = _CAMEL.split(word)
            if len(parts) > 1:
                yield from (token for part in parts for token in tokens(part))
            for joined in _JOINED.findall(word):
                yield "".join(tokens(joined))

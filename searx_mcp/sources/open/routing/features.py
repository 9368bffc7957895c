"""What a question is about, told by its words and by their shapes."""

import re
from collections.abc import Collection, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Final

from searx_mcp.sources.open.engine import word_set
from searx_mcp.sources.open.question import Ecosystem, Identifier, IdentifierKind, Signal
from searx_mcp.sources.open.routing import words
from searx_mcp.sources.open.routing.question_patterns import DEFINING, PRACTICAL, opens_with
from searx_mcp.sources.open.routing.tokens import Part
from searx_mcp.sources.open.routing.topics import SUBJECTS
from searx_mcp.sources.open.table import ENGINES

_MODEL_NAME = re.compile(
    r"[a-z0-9.]{2,40}(?:-[a-z0-9.]{1,40}){0,8}-(?:base|large|xl|xxl|instruct|chat|cased|uncased|[0-9]{1,3}b)"
    r"(?:-[a-z0-9.]{1,40}){0,4}"
)
"""Names of models, such as `bert-base-uncased` and `qwen2.5-7b-instruct`."""

_ENOUGH: Final = 0.75
"""Points that make a question one about programs: a sure name has one, a doubtful one half of it."""

_DOUBTFUL: Final = 0.5
_LONGEST_WORD: Final = 120
"""Characters of a word whose shape is looked at; names in code are shorter."""
_NUMBERED = re.compile(r"[0-9]{1,2}(?:\.[0-9]{1,3}){1,2}")
_TASKS: Final = word_set(
    "prove solve calculate derive evaluate compute integrate factorise factorize differentiate"
)
"""Verbs that set a problem."""

_SHAPE = re.compile(
    r"[a-z_][\w.]*\(|::|->|=>|==|&&|`|[A-Za-z0-9]+_[A-Za-z0-9_]+|^--[a-z][a-z-]+$|^#include|^@[a-z]+/|^\$[A-Za-z_]"
    r"|^[a-z]{2,}[A-Z][a-z]+[A-Za-z]*$|^[a-z]\w*\[|^</?[a-z]+>?$",
    re.ASCII,
)
"""Calls, operators, `snake_case`, `camelCase`, options, packages with a scope, variables of a shell."""
_CALL = re.compile(r"[A-Za-z_]\(\)")
"""The brackets behind a name, which are no part of the word."""
_PASCAL = re.compile(r"(?:[A-Z][a-z0-9]+){2,}", re.ASCII)
_FILE_NAME = re.compile(
    r"[\w.-]*\w\.(?:py|js|mjs|cjs|ts|jsx|tsx|rs|go|java|kt|cpp|hpp|cs|rb|php|sh|ps1|ya?ml|json|toml|xml|html?|css|scss|sql"
    r"|ipynb|lock|conf|cfg|ini|env|dll|gradle|vue|jar|whl|so|bashrc|tf|proto)",
    re.ASCII | re.IGNORECASE,
)
_BRANDS: Final = word_set("""
    iphone ipad ebay macos ios ipod imac icloud watchos ipados youtube linkedin paypal facebook tiktok whatsapp github gitlab
    javascript typescript openai chatgpt deepmind spacex mcdonald mcdonalds macbook wordpress powerpoint playstation
    nintendo youtu airbnb doordash fedex mastercard blackberry bittorrent wikipedia deepseek huggingface
    """)
"""Spelled with a capital inside, and no names in code."""
_ERROR_NAME = re.compile(
    r"(?:[\w.]*\w)?(?:Error|Exception|Fault)|E[A-Z]{5,}|0x8[0-9A-Fa-f]{7}|SIG(?:SEGV|ABRT|KILL)|[A-Z]{2,}_ERR[A-Z_]*",
    re.ASCII,
)
_STATUS = re.compile(r"[45][0-9]{2}")
_STATUS_WORDS: Final = word_set(
    "http https error errors status api code response request server gateway nginx returns unauthorized forbidden"
)
_NO_ERRORS: Final = frozenset(
    {"error handling", "exception handling", "error rate", "error correction", "medical errors"}
)

_COORDINATES = re.compile(
    r"(?<![\w.])-?[0-9]{1,2}\.[0-9]{3,10}[\u00b0\u00ba]?[NS]?[, ]{1,3}-?[0-9]{1,3}\.[0-9]{3,10}"
)
_POSTCODE = re.compile(r"(?<!\w)[A-Z]{1,2}[0-9][A-Z0-9]? [0-9][A-Z]{2}(?!\w)")
_HOUSE_NUMBER = re.compile(r"[0-9]{1,3}[a-z]?")
_NEARBY: Final = word_set("near nearby around bei pres cerca")
_SCOPED = re.compile(r"@[a-z0-9-]{1,100}/[a-z0-9._-]{1,100}")
_SCRIPTS: Final = word_set("javascript typescript node nodejs node.js react vue svelte")
_MAX_PLACE_WORDS: Final = 6
_MAX_NAME_WORDS: Final = 4
_NO_PLACES: Final = frozenset({Signal.CODE, Signal.BIOMEDICAL, Signal.SCHOLARLY, Signal.FORMAL})
"""`where is` and `in` mean no places there."""
_NO_NAMES: Final = frozenset(
    {
        Signal.CODE,
        Signal.VULNERABILITY,
        Signal.IMAGE,
        Signal.VIDEO,
        Signal.MUSIC,
        Signal.SOUND,
        Signal.PLACE,
    }
)
"""Capital letters mean nothing there: they are those of `Photos of Berlin`."""
_OLD_YEAR = re.compile(r"1[0-9]{3}|20[01][0-9]")
_SHORTEST_MEDICAL: Final = 7

_TEXTS: Final = frozenset({"pdf", "epub", "djvu", "mobi", "txt", "doc", "docx"})


@dataclass(frozen=True, slots=True)
class Seen:
    """What the words of a question tell.

    Attributes:
        signals: what it is about.
        ecosystem, music, mediatype, named: see `Question`.
    """

    signals: frozenset[Signal]
    ecosystem: Ecosystem | None
    music: str
    mediatype: str
    named: frozenset[str]


def look(
    text: str,
    parts: Sequence[Part],
    grams: AbstractSet[str],
    *,
    identifier: Identifier | None,
    filetype: str,
) -> Seen:
    """Tell what a question is about.

    Args:
        text: the question.
        parts: its words and phrases.
        grams: see `parts.grams`.
        identifier: what it names.
        filetype: of a `filetype:` word.
    """
    signals: set[Signal] = set()
    signals |= _about_programs(text, parts, grams)
    if identifier is not None:
        is_report = identifier.kind is IdentifierKind.CVE
        signals.add(Signal.VULNERABILITY if is_report else Signal.SCHOLARLY)
    if any(_is_model(part.folded) for part in parts):
        signals.add(Signal.MODEL)
    signals |= _about_software(grams, signals)
    signals |= _about_science(parts, grams, signals)
    signals |= _about_media(parts, grams, signals)
    signals |= _about_the_world(text, parts, grams, signals)
    if filetype in _TEXTS or grams & words.FILE:
        signals.add(Signal.FILE)
    return Seen(
        signals=frozenset(signals),
        ecosystem=_ecosystem(grams, signals),
        music=_music(grams),
        mediatype="texts" if filetype in _TEXTS else _mediatype(grams),
        named=frozenset(engine.name for engine in ENGINES if engine.words.names & grams),
    )


def _is_model(word: str) -> bool:
    """Whether a word is made like the name of a model; `data-base` is not, for all its base."""
    is_long = word.count("-") > 1 or any(letter.isdigit() for letter in word)
    return is_long and bool(_MODEL_NAME.fullmatch(word))


def _about_programs(text: str, parts: Sequence[Part], grams: AbstractSet[str]) -> set[Signal]:
    signals: set[Signal] = set()
    texts = [word[:_LONGEST_WORD] for part in parts for word in part.text.split()]
    points = _code_points(texts, grams) + bool(_CALL.search(text))
    is_practical = opens_with(parts, PRACTICAL) or bool(parts and parts[0].folded in _TASKS)
    fails = any(map(_ERROR_NAME.fullmatch, texts)) or bool(grams & words.ERROR)
    fails |= any(map(_STATUS.fullmatch, texts)) and bool(grams & _STATUS_WORDS)
    if points >= _ENOUGH and grams & words.TROUBLE and not grams & _NO_ERRORS:
        fails = True
    if points >= _DOUBTFUL and grams & words.CLEAR_TROUBLE and not grams & _NO_ERRORS:
        fails = True
    if fails:
        signals.add(Signal.ERROR)
    if fails or points + _DOUBTFUL / 2 * (is_practical and points > _DOUBTFUL) >= _ENOUGH:
        signals.add(Signal.CODE)
    if Signal.CODE in signals or grams & words.TECHNOLOGY:
        signals.add(Signal.TECHNOLOGY)
    if is_practical:
        signals.add(Signal.HOW_TO)
    elif opens_with(parts, DEFINING):
        signals.add(Signal.DEFINITION)
    return signals


def _code_points(texts: Sequence[str], grams: AbstractSet[str]) -> float:
    """How much of a question is of programs, in points; see `_ENOUGH`."""
    doubtful = len(grams & words.AMBIGUOUS) * _DOUBTFUL
    coding = len(grams & words.CODING) * (_DOUBTFUL + 0.1)
    sure = len(grams & words.CODE)
    told = bool(doubtful or coding or sure)
    if told or not grams & SUBJECTS["math"]:
        # Formulas have the shapes of calls and operators, too.
        sure += sum(map(_is_code, texts))
        doubtful += _DOUBTFUL * sum(
            bool(_PASCAL.fullmatch(word)) and word.lower() not in _BRANDS for word in texts
        )
    points = sure + doubtful + coding
    if points:
        points += _DOUBTFUL * min(2, len(grams & words.PROGRAMMING))
        points += _DOUBTFUL * any(map(_NUMBERED.fullmatch, texts))
        # `rust` beside iron and `python` beside a snake are no languages; what is sure stays so.
        points = max(sure, points - len(grams & words.EVERYDAY))
    return points


def _is_code(word: str) -> bool:
    if word.lower() in _BRANDS:
        return False
    return bool(_SHAPE.search(word)) or bool(_FILE_NAME.fullmatch(word))


def _about_software(grams: AbstractSet[str], signals: AbstractSet[Signal]) -> set[Signal]:
    found: set[Signal] = set()
    is_tech = Signal.TECHNOLOGY in signals
    if grams & (words.NPM | words.CRATES | words.OTHER_PACKAGES) or (
        Signal.CODE in signals and grams & words.PACKAGE and Signal.ERROR not in signals
    ):
        found.add(Signal.PACKAGE)
    about = grams & words.REPOSITORY
    if is_tech and (about - words.HOSTS_OF_ISSUES if grams & words.ISSUES else about):
        found.add(Signal.REPOSITORY)
    if is_tech and grams & words.OPINION:
        found.add(Signal.OPINION)
    kinds = (grams & words.MODEL_KINDS) - {"language model"}
    if grams & words.HUGGINGFACE or (
        grams & words.MODEL
        and (grams & words.NAMED_MODELS or kinds)
        and Signal.DEFINITION not in signals
        and not grams & words.SCHOLARLY
    ):
        found.add(Signal.MODEL)
    if grams & words.DATASET:
        found.add(Signal.DATASET)
    if grams & words.VULNERABILITY or (is_tech and grams & words.WEAK_VULNERABILITY):
        found.add(Signal.VULNERABILITY)
    return found


def _about_science(
    parts: Sequence[Part], grams: AbstractSet[str], signals: AbstractSet[Signal]
) -> set[Signal]:
    found: set[Signal] = set()
    if grams & words.SCHOLARLY and not grams & words.NOT_SCHOLARLY:
        found.add(Signal.SCHOLARLY)
    medical = grams & words.BIOMEDICAL
    if signals & {Signal.CODE, Signal.TECHNOLOGY, Signal.DATASET}:
        medical -= words.WEAK_BIOMEDICAL
    if medical or any(
        len(part.folded) >= _SHORTEST_MEDICAL
        and part.folded.removesuffix("s").endswith(words.MEDICAL_ENDINGS)
        and part.folded not in words.NOT_MEDICAL
        for part in parts
    ):
        found.add(Signal.BIOMEDICAL)
    if grams & (words.FORMAL | words.THEOREMS):
        found.add(Signal.FORMAL)
    return found


def _about_media(
    parts: Sequence[Part], grams: AbstractSet[str], signals: AbstractSet[Signal]
) -> set[Signal]:
    found: set[Signal] = set()
    if Signal.CODE in signals:
        return found
    is_scientific = bool(signals & {Signal.SCHOLARLY, Signal.FORMAL})
    if grams & words.IMAGE and not grams & words.NOT_IMAGE and not is_scientific:
        found.add(Signal.IMAGE)
    starts_with_watch = bool(parts) and parts[0].folded == "watch"
    if (grams & words.VIDEO or starts_with_watch) and not grams & words.NOT_VIDEO:
        found.add(Signal.VIDEO)
    if grams & words.MUSIC and not grams & words.NOT_MUSIC:
        found.add(Signal.MUSIC)
    if grams & words.SOUND:
        found.add(Signal.SOUND)
    return found


def _about_the_world(
    text: str, parts: Sequence[Part], grams: AbstractSet[str], signals: AbstractSet[Signal]
) -> set[Signal]:
    found: set[Signal] = set()
    if _is_of_place(text, parts, grams) and not signals & {
        Signal.CODE, Signal.BIOMEDICAL, Signal.SCHOLARLY, Signal.FORMAL,
    }:  # fmt: skip
        found.add(Signal.PLACE)
    if grams & words.PERSON or (_is_name(parts) and not (signals | found) & _NO_NAMES):
        found.add(Signal.ENTITY)
    told = grams & words.NEWS
    if signals & {
        Signal.CODE,
        Signal.SCHOLARLY,
        Signal.BIOMEDICAL,
        Signal.MUSIC,
        Signal.VIDEO,
    } or any(_OLD_YEAR.fullmatch(part.folded) for part in parts):
        told -= words.WEAK_NEWS
    if "hacker news" in grams:
        told -= {"news"}
    if told and "breaking bad" not in grams:
        found.add(Signal.NEWS)
    return found


def _is_of_place(text: str, parts: Sequence[Part], grams: AbstractSet[str]) -> bool:
    if grams & words.PLACE or _COORDINATES.search(text) or _POSTCODE.search(text):
        return True
    tokens = [part.folded for part in parts]
    if grams & _NEARBY and not grams & words.NOT_NEAR:
        return True
    if grams & words.PLACE_KINDS and "in" in tokens[:-1]:
        behind = parts[tokens.index("in") + 1]
        has_names = any(part.text[:1].isupper() for part in parts)
        if behind.text[:1].isupper() or (not has_names and len(parts) <= _MAX_PLACE_WORDS):
            return True
    return any(
        token.endswith(words.STREETS)
        and any(
            map(_HOUSE_NUMBER.fullmatch, (*tokens[max(0, at - 2) : at], *tokens[at + 1 : at + 2]))
        )
        for at, token in enumerate(tokens)
    )


def _is_name(parts: Sequence[Part]) -> bool:
    """Whether a question is nothing but up to four capitalised words."""
    texts = [part.text for part in parts if not part.is_phrase]
    if not 0 < len(texts) <= _MAX_NAME_WORDS or len(texts) < len(parts):
        return False
    small = {
        "of",
        "the",
        "de",
        "von",
        "van",
        "der",
        "da",
        "la",
        "le",
        "and",
        "du",
        "del",
        "di",
        "bin",
        "al",
    }
    return texts[0][:1].isupper() and all(
        (word[:1].isupper() and not any(map(str.isdigit, word))) or word in small for word in texts
    )


def _ecosystem(grams: AbstractSet[str], signals: Collection[Signal]) -> Ecosystem | None:
    has_crates = grams & words.CRATE_WORDS and ("rust" in grams or Signal.CODE in signals)
    is_package = Signal.PACKAGE in signals
    rules = (
        (grams & words.CRATES or has_crates, Ecosystem.CRATES),
        (grams & words.NPM or any(map(_SCOPED.fullmatch, grams)), Ecosystem.NPM),
        (Signal.MODEL in signals or grams & words.HUGGINGFACE, Ecosystem.HUGGINGFACE),
        (is_package and grams & words.OTHER_PACKAGES, Ecosystem.OTHER),
        (is_package and "rust" in grams, Ecosystem.CRATES),
        (is_package and grams & _SCRIPTS, Ecosystem.NPM),
        (is_package, Ecosystem.OTHER),
        (Signal.DATASET in signals, Ecosystem.HUGGINGFACE),
    )
    return next((ecosystem for holds, ecosystem in rules if holds), None)


def _music(grams: AbstractSet[str]) -> str:
    if grams & words.ARTISTS and not grams & (words.RECORDINGS - {"track", "single"}):
        return "artist"
    if grams & words.ALBUMS:
        return "release-group"
    return "recording" if grams & words.RECORDINGS else ""


def _mediatype(grams: AbstractSet[str]) -> str:
    return next((kind for kind, told in words.FILES.items() if told & grams), "")

"""Analyses a query: its content, what it names, and its subjects by its words and their shapes."""

import re
from collections.abc import Collection, Sequence
from collections.abc import Set as AbstractSet
from typing import Final

from searx_mcp.sources.open.question import (
    Ecosystem,
    Identifier,
    IdentifierKind,
    Question,
    Signal,
    identifier_in,
    secret_in,
)
from searx_mcp.sources.open.table import ENGINES
from searx_mcp.sources.open.words import (
    DEFAULT_TOPIC,
    ENDINGS,
    FRAMES,
    MEDIATYPES,
    SUBJECTS,
    WORDS,
    Cut,
    QueryPart,
    content,
    cut,
    grams,
    keywords,
    opens_with,
    topic_of,
)

_MODEL_NAME = re.compile(
    r"[a-z0-9.]{2,40}(?:-[a-z0-9.]{1,40}){0,8}-(?:base|large|xl|xxl|instruct|chat|cased|uncased|[0-9]{1,3}b)"
    r"(?:-[a-z0-9.]{1,40}){0,4}"
)
"""Names of models, such as `bert-base-uncased` and `qwen2.5-7b-instruct`."""

_ENOUGH: Final = 0.75
"""Points from which a question is about programs: a certain name has one, a doubtful one a half."""

_DOUBTFUL: Final = 0.5
_LONGEST_WORD: Final = 120
"""Maximum characters of a word whose shape is checked; names in code are shorter."""
_NUMBERED = re.compile(r"[0-9]{1,2}(?:\.[0-9]{1,3}){1,2}")

_SHAPE = re.compile(
    r"[a-z_][\w.]*\(|::|->|=>|==|&&|`|[A-Za-z0-9]+_[A-Za-z0-9_]+|^--[a-z][a-z-]+$|^#include|^@[a-z]+/|^\$[A-Za-z_]"
    r"|^[a-z]{2,}[A-Z][a-z]+[A-Za-z]*$|^[a-z]\w*\[|^</?[a-z]+>?$",
    re.ASCII,
)
"""Calls, operators, `snake_case`, `camelCase`, options, scoped packages, shell variables."""
_CALL = re.compile(r"[A-Za-z_]\(\)")
"""Brackets after a name, which are not part of the word."""
_PASCAL = re.compile(r"(?:[A-Z][a-z0-9]+){2,}", re.ASCII)
_FILE_NAME = re.compile(
    r"[\w.-]*\w\.(?:py|js|mjs|cjs|ts|jsx|tsx|rs|go|java|kt|cpp|hpp|cs|rb|php|sh|ps1|ya?ml|json|toml|xml|html?|css|scss|sql"
    r"|ipynb|lock|conf|cfg|ini|env|dll|gradle|vue|jar|whl|so|bashrc|tf|proto)",
    re.ASCII | re.IGNORECASE,
)
_ERROR_NAME = re.compile(
    r"(?:[\w.]*\w)?(?:Error|Exception|Fault)|E[A-Z]{5,}|0x8[0-9A-Fa-f]{7}|SIG(?:SEGV|ABRT|KILL)|[A-Z]{2,}_ERR[A-Z_]*",
    re.ASCII,
)
_STATUS = re.compile(r"[45][0-9]{2}")
_COORDINATES = re.compile(
    r"(?<![\w.])-?[0-9]{1,2}\.[0-9]{3,10}[\u00b0\u00ba]?[NS]?[, ]{1,3}-?[0-9]{1,3}\.[0-9]{3,10}"
)
_POSTCODE = re.compile(r"(?<!\w)[A-Z]{1,2}[0-9][A-Z0-9]? [0-9][A-Z]{2}(?!\w)")
_HOUSE_NUMBER = re.compile(r"[0-9]{1,3}[a-z]?")
_SCOPED = re.compile(r"@[a-z0-9-]{1,100}/[a-z0-9._-]{1,100}")
_MAX_PLACE_WORDS: Final = 6
_MAX_NAME_WORDS: Final = 4
_NO_PLACES: Final = frozenset({Signal.CODE, Signal.BIOMEDICAL, Signal.SCHOLARLY, Signal.FORMAL})
"""In these, `where is` and `in` do not refer to places."""
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
"""Here capital letters mean nothing: they are those of `Photos of Berlin`."""
_OLD_YEAR = re.compile(r"1[0-9]{3}|20[01][0-9]")
_SHORTEST_MEDICAL: Final = 7

_TEXTS: Final = frozenset({"pdf", "epub", "djvu", "mobi", "txt", "doc", "docx"})


def analyze_query(text: str) -> Question:
    """Parse a query; never raises, and takes linear time.

    Args:
        text: any text, as the caller wrote it or neutralised for an instance.
    """
    taken = cut(text)
    told = grams(taken.parts)
    identifier = identifier_in(taken.text)
    is_text = taken.filetype in _TEXTS
    signals = _signals(taken, told, identifier)
    if is_text or told & WORDS["file"]:
        signals.add(Signal.FILE)
    is_code = Signal.CODE in signals
    asked = content(taken.parts, is_code=is_code, is_news=Signal.NEWS in signals)
    return Question(
        text=taken.text,
        words=tuple(part.text for part in asked),
        keywords=keywords(asked),
        phrases=tuple(part.text for part in asked if part.is_phrase),
        sites=taken.sites,
        not_sites=taken.not_sites,
        identifier=identifier,
        signals=frozenset(signals),
        ecosystem=_ecosystem(told, signals),
        topic=topic_of(told, is_code=is_code) or (DEFAULT_TOPIC if is_code else ""),
        music=_music(told),
        mediatype="texts" if is_text else _mediatype(told),
        named=frozenset(engine.name for engine in ENGINES if engine.words.names & told),
        secret=secret_in(text),
    )


def _signals(taken: Cut, grams: AbstractSet[str], identifier: Identifier | None) -> set[Signal]:
    """Find what a question is about, apart from files.

    Args:
        taken: the question.
        grams: its words and expressions.
        identifier: the work it names.
    """
    text, parts = taken.text, taken.parts
    signals = _about_programs(text, parts, grams)
    if identifier is not None:
        is_report = identifier.kind is IdentifierKind.CVE
        signals.add(Signal.VULNERABILITY if is_report else Signal.SCHOLARLY)
    if any(_is_model(part.folded) for part in parts):
        signals.add(Signal.MODEL)
    signals |= _about_software(grams, signals)
    signals |= _about_science(parts, grams, signals)
    signals |= _about_media(parts, grams, signals)
    signals |= _about_the_world(text, parts, grams, signals)
    return signals


def _is_model(word: str) -> bool:
    """Return whether a word has the form of a model name; `data-base` has not, despite its `base`."""
    is_long = word.count("-") > 1 or any(letter.isdigit() for letter in word)
    return is_long and bool(_MODEL_NAME.fullmatch(word))


def _about_programs(text: str, parts: Sequence[QueryPart], grams: AbstractSet[str]) -> set[Signal]:
    signals: set[Signal] = set()
    texts = [word[:_LONGEST_WORD] for part in parts for word in part.text.split()]
    points = _code_points(texts, grams) + bool(_CALL.search(text))
    is_practical = opens_with(parts, FRAMES["practical"]) or bool(
        parts and parts[0].folded in WORDS["tasks"]
    )
    fails = any(map(_ERROR_NAME.fullmatch, texts)) or bool(grams & WORDS["error"])
    fails |= any(map(_STATUS.fullmatch, texts)) and bool(grams & WORDS["status"])
    if points >= _ENOUGH and grams & WORDS["trouble"] and not grams & WORDS["no_errors"]:
        fails = True
    if points >= _DOUBTFUL and grams & WORDS["clear_trouble"] and not grams & WORDS["no_errors"]:
        fails = True
    if fails:
        signals.add(Signal.ERROR)
    if fails or points + _DOUBTFUL / 2 * (is_practical and points > _DOUBTFUL) >= _ENOUGH:
        signals.add(Signal.CODE)
    if Signal.CODE in signals or grams & WORDS["technology"]:
        signals.add(Signal.TECHNOLOGY)
    if is_practical:
        signals.add(Signal.HOW_TO)
    elif opens_with(parts, FRAMES["defining"]):
        signals.add(Signal.DEFINITION)
    return signals


def _code_points(texts: Sequence[str], grams: AbstractSet[str]) -> float:
    """Return how much of a question is about programs, in points; see `_ENOUGH`."""
    doubtful = len(grams & WORDS["ambiguous"]) * _DOUBTFUL
    coding = len(grams & WORDS["coding"]) * (_DOUBTFUL + 0.1)
    sure = len(grams & WORDS["code"])
    told = bool(doubtful or coding or sure)
    if told or not grams & SUBJECTS["math"]:
        # Formulas look like calls and operators, too.
        sure += sum(map(_is_code, texts))
        doubtful += _DOUBTFUL * sum(
            bool(_PASCAL.fullmatch(word)) and word.lower() not in WORDS["brands"] for word in texts
        )
    points = sure + doubtful + coding
    if points:
        points += _DOUBTFUL * min(2, len(grams & WORDS["programming"]))
        points += _DOUBTFUL * any(map(_NUMBERED.fullmatch, texts))
        # With words of everyday life, `rust` and `python` are no languages; unambiguous names still are.
        points = max(sure, points - len(grams & WORDS["everyday"]))
    return points


def _is_code(word: str) -> bool:
    if word.lower() in WORDS["brands"]:
        return False
    return bool(_SHAPE.search(word)) or bool(_FILE_NAME.fullmatch(word))


def _about_software(grams: AbstractSet[str], signals: AbstractSet[Signal]) -> set[Signal]:
    found: set[Signal] = set()
    is_tech = Signal.TECHNOLOGY in signals
    if grams & (WORDS["node_packages"] | WORDS["rust_packages"] | WORDS["other_packages"]) or (
        Signal.CODE in signals and grams & WORDS["package"] and Signal.ERROR not in signals
    ):
        found.add(Signal.PACKAGE)
    about = grams & WORDS["repository"]
    if is_tech and (about - WORDS["hosts_of_issues"] if grams & WORDS["issues"] else about):
        found.add(Signal.REPOSITORY)
    if is_tech and grams & WORDS["opinion"]:
        found.add(Signal.OPINION)
    kinds = (grams & WORDS["model_kinds"]) - {"language model"}
    if grams & WORDS["model_hubs"] or (
        grams & WORDS["model"]
        and (grams & WORDS["named_models"] or kinds)
        and Signal.DEFINITION not in signals
        and not grams & WORDS["scholarly"]
    ):
        found.add(Signal.MODEL)
    if grams & WORDS["dataset"]:
        found.add(Signal.DATASET)
    if grams & WORDS["vulnerability"] or (is_tech and grams & WORDS["weak_vulnerability"]):
        found.add(Signal.VULNERABILITY)
    return found


def _about_science(
    parts: Sequence[QueryPart], grams: AbstractSet[str], signals: AbstractSet[Signal]
) -> set[Signal]:
    found: set[Signal] = set()
    if grams & WORDS["scholarly"] and not grams & WORDS["not_scholarly"]:
        found.add(Signal.SCHOLARLY)
    medical = grams & WORDS["biomedical"]
    if signals & {Signal.CODE, Signal.TECHNOLOGY, Signal.DATASET}:
        medical -= WORDS["weak_biomedical"]
    if medical or any(
        len(part.folded) >= _SHORTEST_MEDICAL
        and part.folded.removesuffix("s").endswith(ENDINGS["medical"])
        and part.folded not in WORDS["not_medical"]
        for part in parts
    ):
        found.add(Signal.BIOMEDICAL)
    if grams & (WORDS["formal"] | WORDS["theorems"]):
        found.add(Signal.FORMAL)
    return found


def _about_media(
    parts: Sequence[QueryPart], grams: AbstractSet[str], signals: AbstractSet[Signal]
) -> set[Signal]:
    found: set[Signal] = set()
    if Signal.CODE in signals:
        return found
    is_scientific = bool(signals & {Signal.SCHOLARLY, Signal.FORMAL})
    if grams & WORDS["image"] and not grams & WORDS["not_image"] and not is_scientific:
        found.add(Signal.IMAGE)
    starts_with_watch = bool(parts) and parts[0].folded == "watch"
    if (grams & WORDS["video"] or starts_with_watch) and not grams & WORDS["not_video"]:
        found.add(Signal.VIDEO)
    if grams & WORDS["music"] and not grams & WORDS["not_music"]:
        found.add(Signal.MUSIC)
    if grams & WORDS["sound"]:
        found.add(Signal.SOUND)
    return found


def _about_the_world(
    text: str, parts: Sequence[QueryPart], grams: AbstractSet[str], signals: AbstractSet[Signal]
) -> set[Signal]:
    found: set[Signal] = set()
    if _is_of_place(text, parts, grams) and not signals & _NO_PLACES:
        found.add(Signal.PLACE)
    if grams & WORDS["person"] or (_is_name(parts) and not (signals | found) & _NO_NAMES):
        found.add(Signal.ENTITY)
    told = grams & WORDS["news"]
    if signals & {
        Signal.CODE,
        Signal.SCHOLARLY,
        Signal.BIOMEDICAL,
        Signal.MUSIC,
        Signal.VIDEO,
    } or any(_OLD_YEAR.fullmatch(part.folded) for part in parts):
        told -= WORDS["weak_news"]
    if "hacker news" in grams:
        told -= {"news"}
    if told and "breaking bad" not in grams:
        found.add(Signal.NEWS)
    return found


def _is_of_place(text: str, parts: Sequence[QueryPart], grams: AbstractSet[str]) -> bool:
    if grams & WORDS["place"] or _COORDINATES.search(text) or _POSTCODE.search(text):
        return True
    tokens = [part.folded for part in parts]
    if grams & WORDS["nearby"] and not grams & WORDS["not_near"]:
        return True
    if grams & WORDS["place_kinds"] and "in" in tokens[:-1]:
        behind = parts[tokens.index("in") + 1]
        has_names = any(part.text[:1].isupper() for part in parts)
        if behind.text[:1].isupper() or (not has_names and len(parts) <= _MAX_PLACE_WORDS):
            return True
    return any(
        token.endswith(ENDINGS["streets"])
        and any(
            map(_HOUSE_NUMBER.fullmatch, (*tokens[max(0, at - 2) : at], *tokens[at + 1 : at + 2]))
        )
        for at, token in enumerate(tokens)
    )


def _is_name(parts: Sequence[QueryPart]) -> bool:
    """Return whether a question is nothing but up to four capitalised words."""
    texts = [part.text for part in parts if not part.is_phrase]
    if not 0 < len(texts) <= _MAX_NAME_WORDS or len(texts) < len(parts):
        return False
    return texts[0][:1].isupper() and all(
        (word[:1].isupper() and not any(map(str.isdigit, word))) or word in WORDS["particles"]
        for word in texts
    )


def _ecosystem(grams: AbstractSet[str], signals: Collection[Signal]) -> Ecosystem | None:
    has_crates = grams & WORDS["crate_words"] and ("rust" in grams or Signal.CODE in signals)
    is_package = Signal.PACKAGE in signals
    rules = (
        (grams & WORDS["rust_packages"] or has_crates, Ecosystem.CRATES),
        (grams & WORDS["node_packages"] or any(map(_SCOPED.fullmatch, grams)), Ecosystem.NPM),
        (Signal.MODEL in signals or grams & WORDS["model_hubs"], Ecosystem.HUGGINGFACE),
        (is_package and grams & WORDS["other_packages"], Ecosystem.OTHER),
        (is_package and "rust" in grams, Ecosystem.CRATES),
        (is_package and grams & WORDS["scripts"], Ecosystem.NPM),
        (is_package, Ecosystem.OTHER),
        (Signal.DATASET in signals, Ecosystem.HUGGINGFACE),
    )
    return next((ecosystem for holds, ecosystem in rules if holds), None)


def _music(grams: AbstractSet[str]) -> str:
    if grams & WORDS["artists"] and not grams & (WORDS["recordings"] - {"track", "single"}):
        return "artist"
    if grams & WORDS["albums"]:
        return "release-group"
    return "recording" if grams & WORDS["recordings"] else ""


def _mediatype(grams: AbstractSet[str]) -> str:
    return next((kind for kind, told in MEDIATYPES.items() if told & grams), "")

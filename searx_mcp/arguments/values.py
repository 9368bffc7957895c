"""Plain values: texts, choices, numbers, sizes, ages, languages, categories."""

import json
import re
import unicodedata
from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import partial
from typing import Final

from pydantic import TypeAdapter, ValidationError

from searx_mcp.arguments.messages import (
    MAX_RAW_LENGTH,
    SHOWN_LENGTH,
    check_length,
    did_you_mean,
    wrong,
)
from searx_mcp.arguments.names import folded
from searx_mcp.errors import InvalidArgumentError
from searx_mcp.models.base import ByteCount
from searx_mcp.models.request import (
    FURTHER_CATEGORIES,
    LANGUAGE_PATTERN,
    MAX_CONTENT_LENGTH,
    MIN_CONTENT_LENGTH,
    USER_AGENT_PATTERN,
    Category,
    SafeSearch,
    Source,
    TimeRange,
)

AGES: Final = (*filter(None, TimeRange), "any")
"""The time ranges a caller is told of."""

_NUMBER = re.compile(r"[+-]?[0-9]{1,15}(\.[0-9]{1,15})?")
_FORBIDDEN = re.compile(r"[\x00-\x08\x0e-\x1f\x7f-\x9f\ud800-\udfff]")
_BYTES = TypeAdapter[int](ByteCount)

_LANGUAGES: Final = {
    "af": "afrikaans", "ar": "arabic العربية", "be": "belarusian беларуская",
    "bg": "bulgarian български", "bn": "bengali বাংলা", "ca": "catalan català",
    "cs": "czech čeština česky", "cy": "welsh cymraeg", "da": "danish dansk",
    "de": "german deutsch", "el": "greek ελληνικά", "en": "english", "eo": "esperanto",
    "es": "spanish español espanol castilian", "et": "estonian eesti", "eu": "basque euskara",
    "fa": "persian farsi فارسی", "fi": "finnish suomi", "fil": "filipino tagalog",
    "fr": "french français francais", "ga": "irish gaeilge", "gl": "galician galego",
    "he": "hebrew עברית", "hi": "hindi हिन्दी", "hr": "croatian hrvatski",
    "hu": "hungarian magyar", "id": "indonesian bahasa", "is": "icelandic íslenska",
    "it": "italian italiano", "ja": "japanese 日本語", "ko": "korean 한국어",
    "lt": "lithuanian lietuvių", "lv": "latvian latviešu", "ms": "malay melayu",
    "nb": "norwegian norsk bokmål", "nl": "dutch nederlands flemish", "pl": "polish polski",
    "pt": "portuguese português portugues", "ro": "romanian română", "ru": "russian русский",
    "sk": "slovak slovenčina", "sl": "slovenian slovenščina slovene", "sq": "albanian shqip",
    "sr": "serbian српски", "sv": "swedish svenska", "sw": "swahili kiswahili",
    "ta": "tamil தமிழ்", "th": "thai ไทย", "tr": "turkish türkçe", "uk": "ukrainian українська",
    "ur": "urdu اردو", "vi": "vietnamese", "zh": "chinese mandarin 中文",
}  # fmt: skip
"""The names of languages, in English and in themselves, by the codes that engines take."""
_CODES: Final = {
    **{name: code for code, names in _LANGUAGES.items() for name in names.split()},
    **dict.fromkeys(("any", "any language", "all languages"), "all"),
}
"""Of languages, by name in lower case."""

_ANY_AGE: Final = frozenset({"", "any", "anytime", "all", "alltime", "nolimit", "none"})
_AGE: Final = re.compile(
    r"(?:in|within|from|qdr:?)?(?:the)?(?:past|last|previous|this|p)?([0-9]{1,5}|one|an?)?"
    r"(?:(h|hrs?|hours?|hourly|d|days?|daily|today)|(w|wks?|weeks?|weekly)|(m|mo|months?|monthly)"
    r"|(y|yrs?|years?|yearly))(?:ago)?"
)
"""Folded spellings of Brave (`pw`), DuckDuckGo (`w`), Google (`qdr:w`), Perplexity, and of people; the groups
are a number, then units of up to a day, weeks, months, years."""
_DAYS: Final[Mapping[TimeRange, int]] = {
    TimeRange.DAY: 1,
    TimeRange.WEEK: 7,
    TimeRange.MONTH: 31,
    TimeRange.YEAR: 366,
}
_HOURS_A_DAY: Final = 24
SAFE_SEARCH: Final[Mapping[str, SafeSearch]] = {
    **dict.fromkeys(("0", "off", "none", "false"), SafeSearch.OFF),
    **dict.fromkeys(("1", "moderate", "on", "true"), SafeSearch.MODERATE),
    **dict.fromkeys(("2", "strict"), SafeSearch.STRICT),
}
SOURCES: Final[Mapping[str, Source]] = {source.value: source for source in Source}
_CATEGORIES: Final[Mapping[str, str]] = {
    **{folded(name): name for name in (*Category, *FURTHER_CATEGORIES)},
    "image": Category.IMAGES,
    "video": Category.VIDEOS,
    "maps": Category.MAP,
    "researchpaper": Category.SCIENCE,
    "finance": Category.GENERAL,
}
"""With the names of Exa and Tavily; nothing of SearXNG's is for finance alone, so the query has to say it."""
_BOOLEANS = dict.fromkeys(("1", "true", "yes", "on"), True) | dict.fromkeys(
    ("0", "false", "no", "off"), False
)


def text_of(written: str, value: object, *, limit: int) -> str:
    """Clean what a person or a model wrote; none of it is ever shown in a message."""
    if not isinstance(value, str):
        raise InvalidArgumentError(written, f"must be a text, not {type(value).__name__}")
    check_length(written, value, limit, unless=MAX_RAW_LENGTH)
    if forbidden := _FORBIDDEN.search(value):
        where = f"U+{ord(forbidden[0]):04X} at position {forbidden.start() + 1}"
        raise InvalidArgumentError(written, f"has the control character {where}; leave it out")
    text = " ".join(unicodedata.normalize("NFC", value).split())
    if not any(character.isprintable() and character != " " for character in text):
        raise InvalidArgumentError(written, "is empty")
    check_length(written, text, limit)
    return text


def choice(written: str, value: object, *, choices: Mapping[str, object], allowed: str) -> object:
    """Find a value among `choices` by its folded spelling."""
    spelling = str(int(value)) if isinstance(value, int | float) and value in (0, 1, 2) else value
    if isinstance(spelling, str) and (key := folded(spelling.strip())) in choices:
        return choices[key]
    raise wrong(written, value, allowed)


def number_of(
    written: str, value: object, *, low: int, high: int, fraction: bool = False
) -> int | float:
    """Read a number between two bounds; text counts, booleans do not."""
    number = float(value) if isinstance(value, str) and _NUMBER.fullmatch(value.strip()) else value
    match number:
        case bool():
            pass
        case int() | float() if low <= number <= high and (fraction or number == int(number)):
            return number if fraction else int(number)
    raise wrong(written, value, f"a {'' if fraction else 'whole '}number from {low:,} to {high:,}")


def size(written: str, value: object) -> int | float:
    """Read a number of bytes, such as `2MB`."""
    try:
        count = _BYTES.validate_python(value)
    except ValidationError:
        raise wrong(written, value, "a number of bytes or a size such as 2MB") from None
    return number_of(written, count, low=MIN_CONTENT_LENGTH, high=MAX_CONTENT_LENGTH)


def age(written: str, value: object) -> TimeRange:
    """Read how old a result may be: `week`, `past week`, `7d`; of `days`, their number.

    What lies between two ranges takes the longer one, which has all of it.
    """
    if folded(written) == "days":
        return _covering(int(number_of(written, value, low=1, high=100_000)))
    if isinstance(value, str) and (key := folded(value.strip())) in _ANY_AGE:
        return TimeRange.ANY
    if isinstance(value, str) and (found := _AGE.fullmatch(key)):
        number = int(found[1]) if (found[1] or "").isdigit() else 1
        if found[2] and found[2].startswith("h"):
            return _covering(-(-number // _HOURS_A_DAY))
        units = zip(found.groups()[1:], _DAYS.values(), strict=True)
        return _covering(number * next(days for unit, days in units if unit))
    raise wrong(written, value, f"one of {', '.join(AGES)}")


def _covering(days: int) -> TimeRange:
    return next((age for age, most in _DAYS.items() if days <= most), TimeRange.ANY)


def language(written: str, value: object) -> str:
    """Read a language: `EN_us` is `en-US`, `English` is `en`; `all` and `auto` are languages too."""
    if isinstance(value, str) and len(value) <= SHOWN_LENGTH:
        if known := _CODES.get(value.strip().casefold()):
            return known
        code, hyphen, region = value.strip().replace("_", "-").partition("-")
        tag = f"{code.lower()}{hyphen}{region.upper()}"
        if re.fullmatch(LANGUAGE_PATTERN, tag):
            return tag
    raise wrong(written, value, "a language such as en, a region such as en-US, all or auto")


def category(written: str, value: object, *, further: Iterable[str]) -> str:
    """Read a category that SearXNG knows, or one of `further`, by its folded spelling.

    An instance ignores a name it does not know and searches in general, so that a misspelt one
    must not leave.
    """
    value = _only(value)
    known = {**_CATEGORIES, **{folded(name): name for name in further}}
    if isinstance(value, str) and (key := folded(value.strip())) in known:
        return known[key]
    near = did_you_mean(value, known.values()) if isinstance(value, str) else ""
    raise wrong(written, value, f"one of {', '.join(Category)}, or another of SearXNG{near}")


def _only(value: object) -> object:
    """Take the one entry out of a list, which may be JSON in a text; anything else stays."""
    entries = value
    if isinstance(value, str) and len(value) <= SHOWN_LENGTH and value.lstrip().startswith("["):
        with suppress(ValueError):
            entries = json.loads(value)
    return entries[0] if isinstance(entries, list | tuple) and len(entries) == 1 else value


def user_agent(written: str, value: object) -> str:
    """Take a header value as it is."""
    if isinstance(value, str) and re.fullmatch(USER_AGENT_PATTERN.removesuffix("$"), value):
        return value
    raise wrong(written, value, "printable ASCII of at most 256 characters")


boolean = partial(choice, choices=_BOOLEANS, allowed="true or false")

"""Reads values as models and people write them: lenient about spelling, strict about meaning.

A reader takes what was written and the bounds of its field, and returns the field's value. An invalid value
raises `ValueError` with a sentence that completes the argument's name; it shows at most 60 characters of a
value, and nothing of a query.
"""

import json
import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Final, NamedTuple, TypeAlias

from searx_mcp.models.base import parse_size
from searx_mcp.models.spelling import SHOWN_LENGTH, did_you_mean, folded, is_blank, shown

MAX_RAW_LENGTH: Final = 20_000
"""Longer texts are refused before anything else reads them."""
MAX_DOMAINS: Final = 50
MAX_URL_LENGTH: Final = 4_096
"""Maximum characters of an address, before and after encoding: half of what servers accept as a request line."""
MAX_URLS: Final = 20


class Limits(NamedTuple):
    """The bounds of a field, with pydantic's names.

    Attributes:
        ge, le: of a number.
        max_length: characters of a text, entries of a list.
        pattern: of a text.
        names: accepted in addition to those that the reader knows.
    """

    ge: int = 0
    le: int = 0
    max_length: int = MAX_RAW_LENGTH
    pattern: str = ""
    names: tuple[str, ...] = ()


Reader: TypeAlias = Callable[[object, Limits], object]


_KINDS: Final[dict[type, str]] = {
    bool: "true or false",
    int: "a number",
    float: "a number",
    list: "a list",
    dict: "an object",
}
"""JSON types besides texts, in words for callers who do not write Python."""


def text(value: object, limits: Limits) -> str:
    """Clean a text; messages never show any of it."""
    if not isinstance(value, str):
        kind = _KINDS.get(type(value), type(value).__name__)
        raise ValueError(f"must be text, not {kind}")  # noqa: TRY004 - as all that is wrong
    _check_length(value, limits.max_length, unless=MAX_RAW_LENGTH)
    if forbidden := _FORBIDDEN.search(value):
        where = f"U+{ord(forbidden[0]):04X} at position {forbidden.start() + 1}"
        raise ValueError(f"has the control character {where}; leave it out")
    cleaned = " ".join(unicodedata.normalize("NFC", value).split())
    if not any(character.isprintable() and character != " " for character in cleaned):
        raise ValueError("is empty")
    _check_length(cleaned, limits.max_length)
    return cleaned


_FORBIDDEN: Final = re.compile(r"[\x00-\x08\x0e-\x1f\x7f-\x9f\ud800-\udfff]")


def prose(value: object, limits: Limits) -> str:
    """Clean a text that may have several paragraphs."""
    if not isinstance(value, str):
        return text(value, limits)
    _check_length(value, limits.max_length)
    return "\n".join(text(line, limits) for line in value.splitlines() if not is_blank(line))


def texts(most: int) -> Reader:
    """Make a reader of one text, or a list of them, which may be a JSON text; duplicates are dropped.

    Args:
        most: maximum characters of each.
    """

    def read(value: object, limits: Limits) -> tuple[str, ...]:
        entries: object = value
        if isinstance(value, str):
            _check_length(value, MAX_RAW_LENGTH)
            entries = [value]
            if value.lstrip().startswith("["):
                with suppress(ValueError, RecursionError):
                    entries = json.loads(value)
        if not isinstance(entries, list | tuple):
            entries = [entries]
        if len(entries) > limits.max_length:
            raise ValueError(f"has {len(entries):,} entries; at most {limits.max_length}")
        one = Limits(max_length=most)
        found = tuple(dict.fromkeys(text(entry, one) for entry in entries if not is_blank(entry)))
        if not found:
            raise ValueError("is empty")
        return found

    return read


def choice(choices: Mapping[str, object], allowed: str) -> Reader:
    """Make a reader that finds a value by its folded spelling.

    Args:
        choices: the values by folded spelling.
        allowed: the choices that a message names.
    """

    def read(value: object, _: Limits) -> object:
        spelt = str(int(value)) if isinstance(value, int | float) and value in (0, 1, 2) else value
        if isinstance(spelt, str) and (key := folded(spelt.strip())) in choices:
            return choices[key]
        raise _wrong(value, allowed)

    return read


BOOLEANS: Final[Mapping[str, bool]] = {
    **dict.fromkeys(("1", "true", "yes", "on"), True),
    **dict.fromkeys(("0", "false", "no", "off"), False),
}
"""Booleans as text, folded."""
boolean: Final = choice(BOOLEANS, "true or false")


def number(value: object, limits: Limits, *, fraction: bool = False) -> int | float:
    """Read a number between two bounds; accepts text, but not booleans."""
    low, high = limits.ge, limits.le
    found = float(value) if isinstance(value, str) and _NUMBER.fullmatch(value.strip()) else value
    match found:
        case bool():
            pass
        case int() | float() if low <= found <= high and (fraction or found == int(found)):
            return found if fraction else int(found)
    raise _wrong(value, f"a {'' if fraction else 'whole '}number from {low:,} to {high:,}")


_NUMBER: Final = re.compile(r"[+-]?[0-9]{1,15}(\.[0-9]{1,15})?")

seconds: Final = partial(number, fraction=True)


def size(value: object, limits: Limits) -> int | float:
    """Read a number of bytes, such as `2MB`."""
    if isinstance(value, str) and _NUMBER.fullmatch(value.strip()) and float(value).is_integer():
        return number(value, limits)
    count = None
    with suppress(ValueError):
        count = parse_size(value)
    if isinstance(count, int) or (isinstance(count, float) and count.is_integer()):
        return number(count, limits)
    raise _wrong(value, "a number of bytes or a size such as 2MB")


AGES: Final[Mapping[str, int]] = {"day": 1, "week": 7, "month": 31, "year": 366}
"""Time ranges, and the maximum days of each."""
ANY_AGE: Final = "any"


def age(value: object, _: Limits) -> str:
    """Read a maximum age of results: `week`, `past week`, `7d`.

    An age between two ranges is rounded up to the longer one, which includes it.
    """
    if isinstance(value, str) and (key := folded(value.strip())) in _ANY_AGE:
        return ""
    if isinstance(value, str) and (found := _AGE.fullmatch(key)):
        count = int(found[1]) if (found[1] or "").isdigit() else 1
        if found[2] and found[2].startswith("h"):
            return _covering(-(-count // _HOURS_A_DAY))
        units = zip(found.groups()[1:], AGES.values(), strict=True)
        return _covering(count * next(most for unit, most in units if unit))
    raise _wrong(value, f"one of {', '.join((*AGES, ANY_AGE))}")


def days(value: object, _: Limits) -> str:
    """Read a maximum age of results from a number of days."""
    return _covering(int(number(value, Limits(ge=1, le=100_000))))


def _covering(count: int) -> str:
    return next((name for name, most in AGES.items() if count <= most), "")


_ANY_AGE: Final = frozenset({"", "any", "anytime", "all", "alltime", "nolimit", "none"})
_AGE: Final = re.compile(
    r"(?:in|within|from|qdr:?)?(?:the)?(?:past|last|previous|this|p)?([0-9]{1,5}|one|an?)?"
    r"(?:(h|hrs?|hours?|hourly|d|days?|daily|today)|(w|wks?|weeks?|weekly)|(m|mo|months?|monthly)"
    r"|(y|yrs?|years?|yearly))(?:ago)?"
)
"""Folded spellings of Brave (`pw`), DuckDuckGo (`w`), Google (`qdr:w`), Perplexity, and of people; the groups
are a number, then units of up to a day, weeks, months, years."""
_HOURS_A_DAY: Final = 24


A_LANGUAGE: Final = "a language such as en, a region such as en-US, all or auto"


def language(value: object, limits: Limits) -> str:
    """Read a language: `EN_us` is `en-US`, `English` is `en`; `all` and `auto` are languages too."""
    if isinstance(value, str) and len(value) <= SHOWN_LENGTH:
        if known := _CODES.get(value.strip().casefold()):
            return known
        code, hyphen, region = value.strip().replace("_", "-").partition("-")
        tag = f"{code.lower()}{hyphen}{region.upper()}"
        if re.fullmatch(limits.pattern, tag):
            return tag
    raise _wrong(value, A_LANGUAGE)


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
"""The names of languages, in English and in themselves, by the codes that engines use."""
_CODES: Final = {
    **{name: code for code, names in _LANGUAGES.items() for name in names.split()},
    **dict.fromkeys(("any", "any language", "all languages"), "all"),
}
"""Language codes, by name in lower case."""


def category(
    names: Sequence[str], others: Mapping[str, str], *, shown_names: Sequence[str]
) -> Reader:
    """Make a reader of categories, by their folded spelling.

    An instance replaces unknown names by a general search, so a misspelt one must not be sent.

    Args:
        names: SearXNG's categories; those in the bounds are accepted too.
        others: meanings of further spellings.
        shown_names: the names in messages.
    """

    def read(value: object, limits: Limits) -> str:
        known = {folded(name): name for name in names} | dict(others)
        known |= {folded(name): name for name in limits.names}
        value = _only(value)
        if isinstance(value, str) and (key := folded(value.strip())) in known:
            return known[key]
        near = did_you_mean(value, known.values()) if isinstance(value, str) else ""
        raise _wrong(value, f"one of {', '.join(shown_names)}, or another SearXNG category{near}")

    return read


def _only(value: object) -> object:
    """Return the only entry of a list, which may be a JSON text; anything else is unchanged."""
    entries = value
    if isinstance(value, str) and len(value) <= SHOWN_LENGTH and value.lstrip().startswith("["):
        with suppress(ValueError):
            entries = json.loads(value)
    return entries[0] if isinstance(entries, list | tuple) and len(entries) == 1 else value


def cursor(value: object, limits: Limits) -> str:
    """Read the cursor of a captured page."""
    if isinstance(value, str):
        spelling = value.strip().lower()
        if spelling and re.fullmatch(limits.pattern, spelling):
            return spelling
    raise _wrong(value, "a cursor from an earlier answer, 16 letters and digits")


A_USER_AGENT: Final = "printable ASCII of at most 256 characters"


def user_agent(value: object, limits: Limits) -> str:
    """Read a header value unchanged."""
    if isinstance(value, str) and re.fullmatch(limits.pattern, value):
        return value
    raise _wrong(value, A_USER_AGENT)


def engines(pattern: str) -> Reader:
    """Make a reader of engine names without duplicates; in SearXNG all of them are lower-case.

    Args:
        pattern: for each name.
    """

    def read(value: object, limits: Limits) -> tuple[str, ...]:
        entries = _entries(value, noun="engines", most=limits.max_length)
        return tuple(dict.fromkeys(map(read_one, entries)))

    def read_one(value: object) -> str:
        if isinstance(value, str) and len(value) <= MAX_RAW_LENGTH:
            name = " ".join(unicodedata.normalize("NFC", value).lower().split())
            if re.fullmatch(pattern, name) and name.isprintable():
                return name
        raise _wrong(value, "the name of an engine such as duckduckgo")

    return read


def domains(value: object, _: Limits) -> tuple[str, ...]:
    """Read a list of domains without duplicates."""
    return tuple(dict.fromkeys(map(_domain, _entries(value, noun="domains", most=MAX_DOMAINS))))


def _domain(value: object) -> str:
    """Extract the domain from `https://*.Example.ORG.:443/path`: `example.org`, in ASCII."""
    if isinstance(value, str) and len(value) <= MAX_URL_LENGTH:
        authority = re.split(r"[/?#]", re.sub(r"^\s*\w+://", "", value), maxsplit=1)[0]
        host = re.sub(r":[0-9]{1,5}$", "", authority.strip().lower()).lstrip("*.").rstrip(".")
        if _DOMAIN.fullmatch(host if host.isascii() else (host := _to_ascii(host))):
            return host
    raise _wrong(value, "a domain such as example.org")


_LABEL: Final = r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?"
_DOMAIN: Final = re.compile(rf"(?=.{{1,253}}\Z){_LABEL}(?:\.{_LABEL})*")


def _to_ascii(host: str) -> str:
    """Encode a host name like the HTTP layer; empty if it cannot be one."""
    from yarl import URL  # noqa: PLC0415 - 9 ms of start-up that only such a name has to pay

    try:
        return URL.build(scheme="https", host=host).raw_host or ""
    except ValueError:
        return ""


def urls(value: object, limits: Limits) -> tuple[str, ...]:
    """Read one address, or a list of them, which may be a JSON text; duplicates are dropped."""
    if isinstance(value, str) and not value.lstrip().startswith("["):
        return (_url(value, limits),)
    if not isinstance(value, str | list | tuple):
        raise _wrong(value, _AN_ADDRESS)
    entries = _entries(value, noun="addresses", most=MAX_URLS)
    if not entries:
        raise _wrong(value, _AN_ADDRESS)
    return tuple(dict.fromkeys(_url(entry, limits) for entry in entries))


def one_url(value: object, limits: Limits) -> str:
    """Read one address, which may be the only entry of a list."""
    return _url(_only(value), limits)


def _url(value: object, limits: Limits) -> str:
    """Read an address; `https://` is added to one that starts with a host."""
    if not isinstance(value, str) or not value.strip():
        raise _wrong(value, _AN_ADDRESS)
    address = value.strip(" \t\r\n")
    if forbidden := _FORBIDDEN_IN_URL.search(address):
        raise ValueError(f"{shown(address)} has the character U+{ord(forbidden[0]):04X}; encode it")
    address = f"https://{address}" if _BARE_HOST.fullmatch(address) else address
    _check_length(address, min(limits.max_length, MAX_URL_LENGTH))
    return address


_AN_ADDRESS: Final = "an address such as https://example.org/page"
_FORBIDDEN_IN_URL: Final = re.compile(r"[\s\x00-\x20\x7f-\x9f\ud800-\udfff]")
_BARE_HOST: Final = re.compile(r"([\w-]+\.)+([^\W\d_]{2,}|xn--[\w-]+)(:[0-9]{1,5})?([/?#].*)?")


def _entries(value: object, *, noun: str, most: int) -> Sequence[object]:
    """Split a list, a comma list, a JSON text or a single value into entries, without blank ones."""
    entries = value
    if isinstance(value, str):
        _check_length(value, MAX_RAW_LENGTH)
        entries = value.split(",")
        if value.lstrip().startswith("["):
            try:
                entries = json.loads(value)
            except (ValueError, RecursionError):
                raise _wrong(value, f"a JSON list of {noun}") from None
    if not isinstance(entries, list | tuple):
        raise _wrong(value, f"a list of {noun}")
    if len(entries) > most:
        raise ValueError(f"has {len(entries):,} entries; at most {most}")
    return [entry for entry in entries if not is_blank(entry)]


def _wrong(value: object, allowed: str) -> ValueError:
    return ValueError(f"{shown(value)} is not {allowed}")


def _check_length(value: str, limit: int, *, unless: int | None = None) -> None:
    """Refuse a text of more than `limit` characters, or of more than `unless` if that is given."""
    if len(value) > (unless or limit):
        raise ValueError(f"has {len(value):,} characters; at most {limit:,}")

"""Converts texts, addresses, numbers and times from an instance to clean and bounded values.

An instance relays what engines relay from strangers, in types that changed over the years. Nothing is
trusted: each function takes any object and returns a clean, bounded value or nothing.

JSON has times in ISO 8601 since 2023-06, with and without an offset; HTML has it since 2025-03. Before that, and still
for papers, there is a date in the reader's language, or within the last day only its age.
"""

import re
from collections.abc import Iterable
from datetime import date, datetime, timedelta
from typing import Final
from urllib.parse import parse_qs, quote, urljoin, urlsplit

from searx_mcp.content import values as content_values
from searx_mcp.content.clean import clean, clean_line, stripped
from searx_mcp.models.coercion import MAX_URL_LENGTH
from searx_mcp.urls.hosts import is_short_enough, without_userinfo

MAX_ROWS: Final = 500
"""Maximum rows of one page; the largest page measured had 98."""
MAX_TITLE: Final = 500
MAX_DESCRIPTION: Final = 2_000
MAX_NAME: Final = 100
MAX_NAMES: Final = 100

_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_SPACE = re.compile(r"\s")
_NOT_A_HOST = re.compile(r"[\s%<>\"\\^`{|}]")
_PLAIN_ADDRESS = re.compile(r"https?://[a-z0-9][a-z0-9.-]*(?::[0-9]{1,4})?(?:/[!-~]*)?")
"""Most addresses: without user, long port and characters that must be encoded or refused."""
_PRINTABLE_BUT_INVISIBLE = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)
"""Removed by `clean` although `str.isprintable` is true: fillers, joiners, variation selectors."""
_TAG = re.compile(r"</?[a-z][a-z0-9]{0,10}(?:\s[^<>]{0,2000})?/?>", re.IGNORECASE)
_MAX_MARKUP: Final = 20_000
"""Maximum characters of a text with tags: ten times what is kept of it."""
_TEMPLATE = re.compile(r"[a-z][a-z_-]{0,39}")
_TEMPLATES: Final = {
    f"{name}.html": name
    for name in (
        "default", "images", "videos", "torrent", "map", "paper", "packages", "code", "file",
        "products", "keyvalue",
    )
}  # fmt: skip
"""Today's templates; most rows match directly."""
_RENAMED: Final = {"key-value": "keyvalue", "files": "file"}
"""Former names of templates, until 2025-05 and 2025-10."""
MAX_NUMBER: Final = 10**15
"""Larger numbers, including infinities, are not counts, sizes or coordinates of anything."""
_MAX_SECONDS: Final = 10**9
"""Over 30 years; also keeps within the range of a duration."""

_NUMBER = re.compile(r"[+-]?[0-9]{1,16}(?:\.[0-9]{1,30})?")
_COUNT = re.compile(r"[0-9]{1,3}(?:[ ,.'\u2019][0-9]{3}){1,4}(?![0-9])|[0-9]{1,16}(?![0-9])")
"""Digits, or groups of three with a separator between them."""
_DURATION = re.compile(
    r"(?:([0-9]{1,5}) days?, )?(?:([0-9]{1,5}):)?([0-9]{1,5}):([0-9]{1,2}(?:\.[0-9]{1,6})?)"
)
"""As people write it, `3:46`, and as Python does, `1 day, 2:03:04.5`; some engines write `3:5`."""


def line(value: object, max_chars: int) -> str:
    """Return one clean line of at most `max_chars`; empty for anything but a string."""
    if not value or not isinstance(value, str):
        return ""
    # Most texts are clean already, and checking that takes a sixth of the time of cleaning.
    if (
        value.isprintable()
        and len(value) <= max_chars
        and "  " not in value
        and value[0] != " " != value[-1]
        and (value.isascii() or not _PRINTABLE_BUT_INVISIBLE.search(value))
    ):
        return value
    return clean_line(value, max_chars)


def untagged(value: object, max_chars: int) -> str:
    """Return one clean line of a text that may be HTML, as engines send it for fact boxes.

    A text without a tag is not HTML: `AT&amp;T < 5` is not changed.
    """
    if isinstance(value, str) and _TAG.search(value[:_MAX_MARKUP]):
        value = stripped(value[:_MAX_MARKUP])
    return line(value, max_chars)


def lines(values: object, *, max_chars: int = MAX_NAME) -> tuple[str, ...]:
    """Return the distinct clean lines of a collection, in its order; empty for anything else."""
    if not isinstance(values, (list, tuple)) and (  # checking for an Iterable first takes longer
        isinstance(values, str | bytes | dict) or not isinstance(values, Iterable)
    ):
        return ()
    kept: dict[str, None] = {}
    for value in values:
        if text := line(value, max_chars):
            kept[text] = None
    return tuple(kept)[:MAX_NAMES]


def names(value: object) -> tuple[str, ...]:
    """Return names from a list, or from the comma-separated text of HTML."""
    return lines(value.split(", ") if isinstance(value, str) else value)


def web_address(value: object) -> str | None:
    """Return an absolute http or https address without a user name or password, or `None`.

    Spaces of any kind are percent-encoded as in browsers (WHATWG URL, path state). An address with control or
    invisible characters is refused: without them it would lead somewhere else.
    """
    if not isinstance(value, str) or len(value) > MAX_URL_LENGTH:
        return None
    plain = value.strip(" ").replace(" ", "%20") if " " in value else value
    if len(plain) <= MAX_URL_LENGTH and _PLAIN_ADDRESS.fullmatch(plain):
        return plain
    url = _visible(value)
    if url is None:
        return None
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        return None
    is_host = host and is_short_enough(host) and not _NOT_A_HOST.search(host)
    return without_userinfo(url) if is_host and parts.scheme in {"http", "https"} else None


def magnet_address(value: object) -> str | None:
    """Return a `magnet:` address that identifies its content, or `None`."""
    if not isinstance(value, str) or len(value) > MAX_URL_LENGTH:
        return None
    url = _visible(value)
    return url if url and url.startswith("magnet:?") and "xt=urn:" in url else None


def image_address(value: object, base_url: str) -> str | None:
    """Return the absolute address of an image, even behind the instance's own image proxy.

    An instance that proxies images links `/image_proxy?url=<original>&h=<hmac>`, which is useful only on its
    own pages, so the original is returned.
    """
    if not isinstance(value, str) or not value.strip() or len(value) > MAX_URL_LENGTH:
        return None
    if _PLAIN_ADDRESS.fullmatch(value) and "/image_proxy" not in value:
        return value
    try:
        url = urljoin(base_url, value.strip())
        parts = urlsplit(url)
        if parts.path.endswith("/image_proxy"):
            url = parse_qs(parts.query, max_num_fields=10).get("url", [url])[0]
    except ValueError:
        return None
    return web_address(url)


def row_template(value: object) -> str:
    """Return SearXNG's row type without suffix, under its current name; `default` if unknown."""
    if not isinstance(value, str):
        return "default"
    if (known := _TEMPLATES.get(value)) is not None:
        return known
    name = value.removesuffix(".html")
    name = _RENAMED.get(name, name)
    return name if _TEMPLATE.fullmatch(name) else "default"


def _visible(value: str) -> str | None:
    """Return the address with its spaces encoded, or `None` if it has invisible characters."""
    url = value.strip(" \t\r\n")
    if _CONTROLS.search(url) or clean(url) != url:
        return None
    url = _SPACE.sub(lambda space: quote(space[0]), url)
    return url if len(url) <= MAX_URL_LENGTH else None


def number(value: object) -> float | None:
    """Return a number of moderate size, also from a text; `None` for NaN and anything else."""
    if isinstance(value, str) and _NUMBER.fullmatch(value.strip(" ")):
        value = float(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    # NaN fails every comparison.
    return float(value) if -MAX_NUMBER <= value <= MAX_NUMBER else None


def count(value: object) -> int | None:
    """Return a count, also from a text that begins with it, such as `1,244 Seeder`."""
    if isinstance(value, str):
        found = _COUNT.match(line(value, MAX_NAME))
        value = int(re.sub(r"\D", "", found[0])) if found else None
    exact = number(value)
    return int(exact) if exact is not None and exact >= 0 else None


def text(value: object, max_chars: int = MAX_NAME) -> str:
    """Return a clean line from a text, a number or a boolean, as SearXNG's pages show it."""
    if isinstance(value, bool) or (isinstance(value, int | float) and number(value) is not None):
        value = str(value)
    return line(value, max_chars)


def size(value: object) -> str:
    """Return the size of a file as text; a number counts bytes and is formatted as in SearXNG."""
    if isinstance(value, str):
        return line(value, MAX_NAME)
    return content_values.size(number(value))


def duration(value: object) -> tuple[str, float | None]:
    """Parse a duration to text and seconds.

    Args:
        value: seconds, or a text, which in HTML may contain only seconds, too.

    Returns:
        The text, made from the number if that was sent, and the seconds if the text is a duration.
    """
    seconds_ = number(value)
    if seconds_ is None and isinstance(value, str):
        words = line(value, MAX_NAME)
        found = _DURATION.fullmatch(words)
        if found is None:
            return words if words != "None" else "", None
        days, hours, minutes, seconds = (float(part or 0) for part in found.groups())
        return words, ((days * 24 + hours) * 60 + minutes) * 60 + seconds
    if seconds_ is None or not 0 < seconds_ <= _MAX_SECONDS:
        return "", None
    return str(timedelta(seconds=seconds_)), seconds_


_YEAR = re.compile(r"[0-9]{4}")
_CANONICAL = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:[+-]\d\d:\d\d)?", re.ASCII)
_DATE_LENGTH: Final = len("2026-02-01")
_AMERICAN = re.compile(r"(?P<month>[A-Za-z]{3,9})\.? (?P<day>[0-9]{1,2}), (?P<year>[0-9]{4})")
_BRITISH = re.compile(r"(?P<day>[0-9]{1,2}) (?P<month>[A-Za-z]{3,9})\.?,? (?P<year>[0-9]{4})")
"""The medium and long dates of English, `Feb 5, 2026` and `5 February 2026` (Unicode CLDR)."""


def instant(value: object) -> str | None:
    """Parse an ISO 8601 date, date and time, or year.

    Offsets are kept and never guessed. English dates are supported, since instances are asked for English;
    `None` for other languages and for ages such as `5 minute(s) ago`: their reference time is unknown, and an
    answer may come from a cache.
    """
    text = line(value, MAX_NAME)
    if not text:
        return None
    if _YEAR.fullmatch(text):
        return text
    try:
        if len(text) == _DATE_LENGTH:
            return date.fromisoformat(text).isoformat()
        read = datetime.fromisoformat(text)
    except ValueError:
        return _english_date(text)
    # Usually it already has our form, and checking that is faster than formatting it.
    return text if _CANONICAL.fullmatch(text) else read.isoformat()


def words(value: object) -> str:
    """Return the words of a time that `instant` cannot parse; empty for `None` in words."""
    text = line(value, MAX_NAME)
    return "" if text == "None" else text


def _english_date(text: str) -> str | None:
    found = _AMERICAN.fullmatch(text) or _BRITISH.fullmatch(text)
    month = found["month"][:3].lower() if found else ""
    if found is None or month not in content_values.MONTHS:
        return None
    try:
        return date(
            int(found["year"]), content_values.MONTHS.index(month) + 1, int(found["day"])
        ).isoformat()
    except ValueError:
        return None

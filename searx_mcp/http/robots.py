"""Parses robots.txt and applies the rules for us (RFC 9309).

We choose the groups, and Protego matches the patterns: Protego would also obey groups whose names are part of
ours, and ends a group at unknown records. `docs/decisions/fetching-politely.md` lists where this is more
lenient than the standard.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from typing_extensions import override
from yarl import URL

if TYPE_CHECKING:
    from protego import Protego

TOKEN: Final = "searx-mcp"  # noqa: S105 - a product token, section 2.2.1

MAX_ROBOTS: Final = 512_000
"""Bytes that are parsed: 500 KiB, the minimum a parser must accept (section 2.5)."""
FETCHED_BYTES: Final = MAX_ROBOTS + 1
"""Bytes to fetch: those that are parsed, and one more to detect a longer file."""

_ASCII: Final = "".join(map(chr, range(0x20, 0x7F)))
_LINE_END: Final = re.compile(r"\r\n?|\n")  # section 2.2; str.splitlines knows many more
_EVERYBODY: Final = re.compile(r"\*(?:\s|\Z)")
_PRODUCT: Final = re.compile(r"[a-z_-]+")
# Missing colons and the usual misspellings are accepted, as in Google's parser.
_RECORD: Final = re.compile(
    r"(?:(?P<name>user[ -]?agent)|(?P<allow>allow)"
    r"|(?P<disallow>disallow|dissallow|dissalow|disalow|diasllow|disallaw))\s*[:\s]\s*(?P<value>.*)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class RobotsDecision:
    """The result of a robots.txt for one address.

    Attributes:
        rule: the line that forbids it, as written (untrusted); empty if none does.
    """

    rule: str = ""

    @property
    def allowed(self) -> bool:
        """True if no rule forbids it."""
        return not self.rule


class RobotsRules:
    """The rules for us: those of all groups that name us, else those for everyone.

    Args:
        text: a robots.txt; unknown lines are skipped.
        by_name: whether only groups that name us count.

    Attributes:
        count: number of rules.
        size: characters of their patterns.
    """

    def __init__(self, text: str, *, by_name: bool = False) -> None:
        lines = list(_rules_for_us(text, by_name=by_name))
        self._disallowed = [pattern for is_allowed, pattern in lines if not is_allowed]
        self._rules = _parse(lines) if self._disallowed else None
        self.count = len(lines)
        self.size = sum(len(pattern) for _, pattern in lines)

    @override
    def __repr__(self) -> str:
        return f"<RobotsRules [{self.count} rules, {len(self._disallowed)} disallow]>"

    def decide(self, url: URL) -> RobotsDecision:
        """Check one address.

        Args:
            url: as it would be sent; path and query count, and `/robots.txt` is always allowed.
        """
        if self._rules is None or url.raw_path == "/robots.txt":
            return RobotsDecision()
        target = f"http://host{_slashed(url.raw_path_qs)}"
        if self._rules.can_fetch(target, TOKEN):
            return RobotsDecision()
        # Protego does not report the rule; bisection finds it: the longest that matches.
        patterns = sorted(self._disallowed, key=len, reverse=True)
        while len(patterns) > 1:
            longer, shorter = patterns[: len(patterns) // 2], patterns[len(patterns) // 2 :]
            is_longer = not _parse([(False, p) for p in longer]).can_fetch(target, TOKEN)
            patterns = longer if is_longer else shorter
        return RobotsDecision(f"Disallow: {patterns[0]}")


def decode(body: bytes) -> str:
    """Decode the bytes of a robots.txt, up to 500 KiB.

    A longer one loses the rest, and the line that was cut. The text is UTF-8, or UTF-16 if a byte order
    mark says so, as some editors write it (section 2.2.2, last paragraph).
    """
    if len(body) > MAX_ROBOTS:
        # The next byte shows whether a line ends exactly there.
        ends = (body.rfind(end, 0, MAX_ROBOTS + 1) for end in (b"\n", b"\r"))
        body = body[: max(0, *ends)]
    encoding = "utf-16" if body.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8-sig"
    return body.decode(encoding, errors="replace")


def _rules_for_us(text: str, *, by_name: bool) -> Iterator[tuple[bool, str]]:
    """Yield each rule's kind (true if it allows) and its pattern, in order."""
    ours: list[tuple[bool, str]] = []
    everybodys: list[tuple[bool, str]] = []
    groups: list[list[tuple[bool, str]]] = []
    is_named = among_names = False
    for line in _LINE_END.split(text):
        record = _RECORD.match(line.partition("#")[0].strip())
        if record is None:
            continue
        value = record["value"]
        if record["name"]:
            if not among_names:
                groups = []
            among_names = True
            if _is_us(value):
                is_named = True
                groups.append(ours)
            elif _EVERYBODY.match(value):
                groups.append(everybodys)
            continue
        among_names = False
        if value:
            for group in groups:
                group.append((record["allow"] is not None, value))
    yield from ours if is_named or by_name else everybodys


def _is_us(name: str) -> bool:
    """Return whether a name is ours, ignoring versions, comments and asterisks."""
    product = _PRODUCT.match(name.replace("*", "").strip().lower())
    return product is not None and product[0] == TOKEN


def _parse(rules: list[tuple[bool, str]]) -> "Protego":
    from protego import Protego  # noqa: PLC0415 - own instances are not asked for their robots.txt

    lines = [f"{'Allow' if is_allowed else 'Disallow'}: {_encoded(p)}" for is_allowed, p in rules]
    return Protego.parse("\n".join(["User-agent: *", *lines]))


def _encoded(pattern: str) -> str:
    """Percent-encode non-ASCII characters; Protego would take some of them for line ends."""
    return _slashed(quote(pattern, safe=_ASCII, errors="replace"))


def _slashed(target: str) -> str:
    """Normalise `/` within a query, where both spellings mean the same (section 2.2.2)."""
    path, mark, query = target.partition("?")
    return path + mark + query.replace("%2F", "/").replace("%2f", "/")

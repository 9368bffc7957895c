"""Provenance of addresses, and detection of addresses that may carry text out of a conversation.

A page can ask a model to fetch an address that contains parts of the conversation. We look for encoded text,
long runs of random characters, and prose longer than any search. This is a hint, not a guard: it misses short
plain words, many short pieces and agreed codes, and it flags addresses with long signatures. The thresholds
are measured in `docs/decisions/fetching-politely.md`.
"""

import base64
import binascii
import math
import re
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable, Iterator
from hashlib import blake2b
from typing import Final, Literal
from urllib.parse import unquote

from typing_extensions import override
from yarl import URL

from searx_mcp.errors import ErrorCode, PolicyError
from searx_mcp.fetch.config import FetchPolicy
from searx_mcp.models.coercion import MAX_URL_LENGTH

Source = Literal["search", "link"]
Origin = Literal["search", "link", "person", "unknown"]

REMEMBERED: Final = 20_000
"""Addresses remembered of each source: 8 MB for both."""

_DIGEST_BYTES: Final = 16

_PROSE: Final = 200
"""Letters in one part that no search reaches; titles in paths have 60 to 120."""
_PROSE_IN_ALL: Final = 400
"""The same for path and query together."""
_HEXADECIMAL: Final = re.compile("[0-9A-Fa-f]+")
_SEPARATORS: Final = re.compile("[&;=]")
_STANDARD: Final = str.maketrans("-_", "+/")
_ENCODED: Final = re.compile(r"[A-Za-z0-9+/_=-]{24,}")
"""The alphabet of base64, base32 and hexadecimal digits; 24 of them hold 12 to 18 characters."""
_LEAST_TEXT: Final = 12
_LETTERS_IN_TEXT: Final = 0.6
_LONGEST_DIGEST: Final = 64
"""Hexadecimal digits of a SHA-256; identifiers in addresses are rarely longer."""
_UNBROKEN: Final = re.compile(rf"[A-Za-z0-9]{{{_LONGEST_DIGEST + 1},}}")
_DIGEST: Final = re.compile(r"0x[0-9a-f]{64}|[0-9a-f]{96}|[0-9a-f]{128}", re.IGNORECASE)
_LEAST_DENSITY: Final = 3.0
"""Bits per character of an unbroken run: digits have 3.3, hexadecimal 4.0, base32 5.0; repeated padding has
less."""
_RANDOM_DENSITY: Final = 4.9
"""Bits per character of a run with hyphens: titles have at most 4.87, random base64 5.0 from 80 on."""


class Provenance:
    """Remembers addresses that were shown, and applies the fetch policy to them.

    The last `size` addresses of each source are remembered, separately, so that a page full of links does not
    evict search results. Only digests are stored. Two spellings are one address if they make the same request:
    fragments, default ports and the case of the host are ignored.

    Args:
        policy: which addresses may be fetched.
        size: addresses remembered of each source.
    """

    def __init__(self, policy: FetchPolicy, *, size: int = REMEMBERED) -> None:
        self._policy = policy
        self._size = size
        # Digests with their hosts, least recently used first.
        self._seen: dict[Source, OrderedDict[bytes, str]] = {
            "search": OrderedDict(),
            "link": OrderedDict(),
        }
        self._hosts: Counter[str] = Counter()

    @override
    def __repr__(self) -> str:
        counts = ", ".join(f"{len(seen)} {source}" for source, seen in self._seen.items())
        return f"<Provenance [{counts}, {len(self._hosts)} hosts]>"

    def remember(self, urls: Iterable[str], source: Source) -> None:
        """Remember addresses that are shown to a caller; skip what is not a web address."""
        seen = self._seen[source]
        for text in urls:
            url = _parsed(text)
            if url is None:
                continue
            key, host = _digest(url)
            if key not in seen:
                seen[key] = host
                self._hosts[host] += 1
            seen.move_to_end(key)
            if len(seen) > self._size:
                self._forget(seen.popitem(last=False)[1])

    def of(self, url: str) -> Literal["search", "link", "unknown"]:
        """Return how an address became known; `search` if it was both found and linked."""
        parsed = _parsed(url)
        return "unknown" if parsed is None else self._source(parsed)

    def check(self, url: URL, *, by_person: bool) -> Origin:
        """Raise if the policy forbids an address.

        Args:
            url: the address from the caller.
            by_person: whether the caller is a person, who may fetch anything.

        Returns:
            How the address became known; `unknown` also if only its host is known.

        Raises:
            PolicyError: `blocked_domain`: the policy allows only known addresses.
        """
        if by_person:
            return "person"
        source = self._source(url)
        if source != "unknown" or self._policy is FetchPolicy.ANY:
            return source
        if self._policy is FetchPolicy.SEEN:
            what = "addresses found by a search or linked from a page"
        elif self._hosts[_digest(url)[1]]:
            return source
        else:
            what = "sites found by a search or linked from a page"
        raise PolicyError(
            f"The configuration allows only {what}.",
            code=ErrorCode.BLOCKED_DOMAIN,
            url=str(url),
            advice="Search for the page first, then fetch it by the address of the result.",
        )

    def _source(self, url: URL) -> Literal["search", "link", "unknown"]:
        key, _ = _digest(url)
        for source, seen in self._seen.items():
            if key in seen:
                seen.move_to_end(key)
                return source
        return "unknown"

    def _forget(self, host: str) -> None:
        self._hosts[host] -= 1
        if not self._hosts[host]:
            del self._hosts[host]


def _parsed(text: str) -> URL | None:
    """Parse a web address."""
    if len(text) > MAX_URL_LENGTH:
        return None
    try:
        url = URL(text)
        # yarl parses parts of the authority lazily.
        has_host = (url.raw_host or "") not in {"", "."}
        is_web = url.scheme in {"http", "https"} and has_host and url.port != 0
    except (ValueError, IndexError, UnicodeError):  # IndexError: yarl 1.25 on "//[]@"
        return None
    return url if is_web else None


def _digest(url: URL) -> tuple[bytes, str]:
    """Return the digest of an address, and its host."""
    host = (url.raw_host or "").removesuffix(".")
    text = f"{url.scheme}://{host}:{url.port}{url.raw_path_qs}"
    return blake2b(text.encode(), digest_size=_DIGEST_BYTES).digest(), host


def is_suspicious(url: URL) -> bool:
    """Return whether an address looks as if it carried text out.

    Args:
        url: as it would be sent; its host counts too, without the last two labels.
    """
    host = "".join((url.raw_host or "").split(".")[:-2])
    sent = (host, *url.raw_path.split("/"), *_SEPARATORS.split(url.raw_query_string))
    # A cooperating site decodes what was encoded twice.
    parts = [unquote(unquote(part)) for part in sent]
    return sum(map(_letters, parts)) >= _PROSE_IN_ALL or any(map(_carries_text, parts))


def density(text: str) -> float:
    """Shannon entropy of a text, in bits per character."""
    counts = Counter(text).values()
    return -sum(count / len(text) * math.log2(count / len(text)) for count in counts)


def _carries_text(part: str) -> bool:
    if _letters(part) >= _PROSE:
        return True
    for match in _UNBROKEN.finditer(part):
        if not _DIGEST.fullmatch(match[0]) and density(match[0]) >= _LEAST_DENSITY:
            return True
    for match in _ENCODED.finditer(part):
        run = match[0]
        if len(run) > _LONGEST_DIGEST and density(run) >= _RANDOM_DENSITY:
            return True
        if any(_is_text(decoded) for decoded in _decoded(run)):
            return True
    return False


def _decoded(run: str) -> Iterator[bytes]:
    """Decode a run in each encoding it may have."""
    if _HEXADECIMAL.fullmatch(run):  # no other encoding leaves out so many letters
        if not run.isdigit():  # pairs of decimal digits are too often characters
            yield from _attempt(bytes.fromhex, run[: len(run) // 2 * 2])
        return
    # The encoded text may have a prefix.
    for start in range(4):
        text = run[start:].translate(_STANDARD)
        yield from _attempt(base64.b64decode, text[: len(text) // 4 * 4])
    text = run.upper()
    yield from _attempt(base64.b32decode, text[: len(text) // 8 * 8])


def _attempt(decode: Callable[[str], bytes], text: str) -> Iterable[bytes]:
    try:
        return (decode(text),)
    except (ValueError, binascii.Error):
        return ()


def _is_text(decoded: bytes) -> bool:
    try:
        text = decoded.decode("utf-8")
    except UnicodeDecodeError as exc:
        # The last character may have been cut.
        if exc.start < len(decoded) - 3:
            return False
        text = decoded[: exc.start].decode("utf-8")
    if len(text) < _LEAST_TEXT or not all(c.isprintable() or c in "\r\n\t" for c in text):
        return False
    return sum(c.isalpha() or c == " " for c in text) >= _LETTERS_IN_TEXT * len(text)


def _letters(part: str) -> int:
    return sum(map(str.isalpha, part))

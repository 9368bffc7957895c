"""Analyses a query: its content, its subjects, what it names, and secrets that must not be sent.

Keys, email addresses and private host names must not reach strangers. Every rule for these checks one word;
none looks back further than the word's beginning.
"""

import ipaddress
import re
from typing import Final

from searx_mcp.sources.open.question import Question, Signal, identifier_in
from searx_mcp.sources.open.routing.features import look
from searx_mcp.sources.open.routing.question_patterns import content, keywords
from searx_mcp.sources.open.routing.words import DEFAULT_TOPIC, cut, grams, topic_of

MAIL: Final = "an email address"
KEY: Final = "a key or token"
HEX: Final = "a long hexadecimal number"
HOST: Final = "a private host"
ADDRESS: Final = "a private address"

_KEY = re.compile(
    r"(?:sk|rk|pk)[-_](?:[a-z]{2,8}[-_])?[A-Za-z0-9_-]{16,}"  # OpenAI, Anthropic, Stripe
    r"|gh[opusr]_[A-Za-z0-9]{16,}|github_pat_[A-Za-z0-9_]{16,}|glpat-[A-Za-z0-9_-]{16,}"
    r"|(?:AKIA|ASIA)[A-Z0-9]{12,}|AIza[A-Za-z0-9_-]{30,}|ya29\.[A-Za-z0-9_-]{20,}"  # Amazon, Google
    r"|xox[abeprs]-[A-Za-z0-9-]{10,}|hf_[A-Za-z0-9]{20,}|npm_[A-Za-z0-9]{30,}|dop_v1_[0-9a-f]{20,}"
    r"|pypi-[A-Za-z0-9_-]{40,}|SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}|shpat_[0-9a-f]{20,}"
    r"|eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?"  # JSON Web Token, RFC 7519
)
"""Prefixes of keys and tokens of well-known services, and their minimum lengths."""
_HEX = re.compile(r"(?:0[xX])?[0-9a-fA-F]{32,}")
"""128 bits: the shortest key in use, and the length of an MD5 digest."""
_BLOB = re.compile(r"[A-Za-z0-9+_-]{40,}={0,2}")
_FEWEST_DIGITS: Final = 4
"""Forty characters of base64 have six digits on average; the longest names in code have one or two."""

_ASSIGNED = re.compile(
    r"(?:pass(?:word|wd)?|pwd|secret|token|api[_-]?key|access[_-]?key|auth)[\"']?[=:][\"']?([^\s\"'&]{8,})",
    re.IGNORECASE,
)
_VALUE_LENGTH: Final = 12
_USER_IN_URL = re.compile(r"[a-z]{2,10}://[^\s/@:]{1,64}:[^\s/@]{1,128}@", re.IGNORECASE)

_MAIL = re.compile(r"[\w.+%-]{1,64}@((?:[A-Za-z0-9-]{1,63}\.){1,8}([A-Za-z]{2,24}))")
_NO_TOP_DOMAINS: Final = frozenset(
    {"png", "jpg", "jpeg", "gif", "webp", "svg", "py", "js", "ts", "service"}
)
"""Ends of file and unit names that contain an @, such as `logo@2x.png`."""
_NOBODY: Final = frozenset({"example.com", "example.org", "example.net"})
"""Reserved for examples (RFC 2606)."""

_IPV4 = re.compile(r"(?<![\w.])([0-9]{1,3}(?:\.[0-9]{1,3}){3})(?![\w.]*[0-9])(/[0-9]{1,2})?")
_IPV6 = re.compile(r"(?<![\w:])f(?:[cd][0-9a-f]{2}|e[89ab][0-9a-f]):[0-9a-f:]{2,35}", re.IGNORECASE)
_HOST = re.compile(
    r"(?<![\w.@$/-])(?:[a-z]{2,10}://)?"
    r"((?:[a-z0-9_-]{1,63}\.){1,8}(?:local|internal|intranet|lan|corp|localdomain|home\.arpa))"
    r"(?=[:/?#,;)\"']|\.?$)",
    re.IGNORECASE,
)
"""Top-level names that are not delegated: `local` (RFC 6762), `internal` (ICANN 2024), `home.arpa` (RFC
8375), `intranet`, `lan`, `corp` and `private` (RFC 6762, appendix G)."""
_KNOWN_HOSTS: Final = frozenset(
    {
        "host.docker.internal",
        "gateway.docker.internal",
        "metadata.google.internal",
        "jdk.internal",
        "env.local",
    }
)
"""The same on every machine, or not hosts at all."""
_PRIVATE: Final = tuple(
    map(
        ipaddress.IPv4Network,
        ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "169.254.0.0/16", "100.64.0.0/10"),
    )
)
"""RFC 1918, RFC 3927 and RFC 6598."""
_MAX_WORD: Final = 2_000


def secret_in(text: str) -> str:
    """Describe what in a text looks like a secret.

    Args:
        text: any text, as the caller wrote it.

    Returns:
        A few words for a person that do not contain it; empty if there is none.
    """
    for word in text.split():
        if found := _secret_word(word[:_MAX_WORD].strip("\"'`()[]{}<>,;")):
            return found
    return ""


def _secret_word(word: str) -> str:
    if _is_key(word):
        return KEY
    if _HEX.search(word) and not word.isdecimal():
        return HEX
    if _is_mail(word):
        return MAIL
    if _is_private_address(word):
        return ADDRESS
    host = _HOST.search(word)
    return HOST if host and host[1].lower() not in _KNOWN_HOSTS else ""


def _is_key(word: str) -> bool:
    # A key may follow a name: `token=`, `Bearer:` and the like.
    for piece in re.split(r"[=:,;\"'&?/]+", word):
        if _KEY.fullmatch(piece) and any(map(str.isdigit, piece)):
            return True
        if _BLOB.fullmatch(piece) and _is_mixed(piece, _FEWEST_DIGITS):
            return True
    assigned = _ASSIGNED.search(word)
    is_long = assigned is not None and len(assigned[1]) >= _VALUE_LENGTH
    if assigned is not None and is_long and assigned[1].isalnum() and _is_mixed(assigned[1], 2):
        return True
    return _USER_IN_URL.search(word) is not None


def _is_mixed(text: str, digits: int) -> bool:
    return (
        sum(map(str.isdigit, text)) >= digits
        and any(map(str.islower, text))
        and any(map(str.isupper, text))
    )


def _is_mail(word: str) -> bool:
    if "@" not in word:
        return False
    mail = _MAIL.search(word)
    if mail is None or mail[0].startswith("git@"):
        return False
    return mail[2].lower() not in _NO_TOP_DOMAINS and mail[1].lower() not in _NOBODY


def _is_private_address(word: str) -> bool:
    found = _IPV4.search(word)
    if found is not None and not found[2]:
        try:
            address = ipaddress.IPv4Address(found[1])
        except ValueError:
            return False
        return any(address in network for network in _PRIVATE)
    return _IPV6.search(word) is not None


def analyze_query(text: str) -> Question:
    """Parse a query; never raises, and takes linear time.

    Args:
        text: any text, as the caller wrote it or neutralised for an instance.
    """
    taken = cut(text)
    told = grams(taken.parts)
    identifier = identifier_in(taken.text)
    seen = look(taken.text, taken.parts, told, identifier=identifier, filetype=taken.filetype)
    is_code = Signal.CODE in seen.signals
    asked = content(taken.parts, is_code=is_code, is_news=Signal.NEWS in seen.signals)
    return Question(
        text=taken.text,
        words=tuple(part.text for part in asked),
        keywords=keywords(asked),
        phrases=tuple(part.text for part in asked if part.is_phrase),
        sites=taken.sites,
        not_sites=taken.not_sites,
        identifier=identifier,
        signals=seen.signals,
        ecosystem=seen.ecosystem,
        topic=topic_of(told, is_code=is_code) or (DEFAULT_TOPIC if is_code else ""),
        music=seen.music,
        mediatype=seen.mediatype,
        named=seen.named,
        secret=secret_in(text),
    )

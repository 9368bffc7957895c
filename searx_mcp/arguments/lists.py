"""Lists of domains and engines, and addresses."""

import json
import re
import unicodedata
from collections.abc import Sequence
from typing import Final

from searx_mcp.arguments.messages import MAX_RAW_LENGTH, check_length, shown, wrong
from searx_mcp.arguments.names import is_blank
from searx_mcp.errors import InvalidArgumentError
from searx_mcp.models.request import ENGINE_PATTERN, MAX_ENGINES, MAX_URL_LENGTH

MAX_DOMAINS: Final = 50
MAX_URLS: Final = 20
_AN_ADDRESS: Final = "an address such as https://example.org/page"

_FORBIDDEN_IN_URL = re.compile(r"[\s\x00-\x20\x7f-\x9f\ud800-\udfff]")
_BARE_HOST = re.compile(r"([\w-]+\.)+([^\W\d_]{2,}|xn--[\w-]+)(:[0-9]{1,5})?([/?#].*)?")
_LABEL = r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?"
_DOMAIN = re.compile(rf"(?=.{{1,253}}\Z){_LABEL}(?:\.{_LABEL})*")


def domains(written: str, value: object) -> tuple[str, ...]:
    """Read a list of domains, each once."""
    entries = _entries(written, value, noun="domains", most=MAX_DOMAINS)
    return tuple(dict.fromkeys(_domain(written, entry) for entry in entries))


def engines(written: str, value: object) -> tuple[str, ...]:
    """Read a list of engine names, each once; SearXNG keeps all of them in lower case."""
    entries = _entries(written, value, noun="engines", most=MAX_ENGINES)
    return tuple(dict.fromkeys(_engine(written, entry) for entry in entries))


def url(written: str, value: object) -> str:
    """Read an address; one that starts with a host gets `https://`."""
    if not isinstance(value, str) or not value.strip():
        raise wrong(written, value, _AN_ADDRESS)
    address = value.strip(" \t\r\n")
    if forbidden := _FORBIDDEN_IN_URL.search(address):
        code = f"U+{ord(forbidden[0]):04X}"
        raise InvalidArgumentError(written, f"{shown(address)} has the character {code}; encode it")
    address = f"https://{address}" if _BARE_HOST.fullmatch(address) else address
    check_length(written, address, MAX_URL_LENGTH)
    return address


def urls(written: str, value: object) -> tuple[str, ...]:
    """Read one address, or a list of them, which may be JSON in a text; each once."""
    if isinstance(value, str) and not value.lstrip().startswith("["):
        return (url(written, value),)
    if not isinstance(value, str | list | tuple):
        raise wrong(written, value, _AN_ADDRESS)
    entries = _entries(written, value, noun="addresses", most=MAX_URLS)
    if not entries:
        raise wrong(written, value, _AN_ADDRESS)
    return tuple(dict.fromkeys(url(written, entry) for entry in entries))


def _entries(written: str, value: object, *, noun: str, most: int) -> Sequence[object]:
    """Take a list, a comma list, JSON in a text or a single value apart, without blank entries."""
    entries = value
    if isinstance(value, str):
        check_length(written, value, MAX_RAW_LENGTH)
        entries = value.split(",")
        if value.lstrip().startswith("["):
            try:
                entries = json.loads(value)
            except (ValueError, RecursionError):
                raise wrong(written, value, f"a JSON list of {noun}") from None
    if not isinstance(entries, list | tuple):
        raise wrong(written, value, f"a list of {noun}")
    if len(entries) > most:
        raise InvalidArgumentError(written, f"has {len(entries):,} entries; at most {most}")
    return [entry for entry in entries if not is_blank(entry)]


def _engine(written: str, value: object) -> str:
    if isinstance(value, str) and len(value) <= MAX_RAW_LENGTH:
        name = " ".join(unicodedata.normalize("NFC", value).lower().split())
        if re.fullmatch(ENGINE_PATTERN, name) and name.isprintable():
            return name
    raise wrong(written, value, "the name of an engine such as duckduckgo")


def _domain(written: str, value: object) -> str:
    """Take the domain out of `https://*.Example.ORG.:443/path`: `example.org`, in ASCII."""
    if isinstance(value, str) and len(value) <= MAX_URL_LENGTH:
        authority = re.split(r"[/?#]", re.sub(r"^\s*\w+://", "", value), maxsplit=1)[0]
        host = re.sub(r":[0-9]{1,5}$", "", authority.strip().lower()).lstrip("*.").rstrip(".")
        if _DOMAIN.fullmatch(host if host.isascii() else (host := _to_ascii(host))):
            return host
    raise wrong(written, value, "a domain such as example.org")


def _to_ascii(host: str) -> str:
    """Encode a host name as the HTTP edge does; empty if it cannot be one."""
    from yarl import URL  # noqa: PLC0415 - 9 ms of start-up that only such a name has to pay

    try:
        return URL.build(scheme="https", host=host).raw_host or ""
    except ValueError:
        return ""

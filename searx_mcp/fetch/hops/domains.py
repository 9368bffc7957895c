"""Domains that the operator allows or blocks.

Blocked domains may be in files, in the formats that ad blockers publish.
"""

import ipaddress
import logging
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from yarl import URL

from searx_mcp.errors import ErrorCode, PolicyError, SettingsError
from searx_mcp.urls.hosts import is_within, normalise_domain

logger = logging.getLogger("searx_mcp.fetch")

MAX_LINES: Final = 1_000_000
MAX_BYTES: Final = 50_000_000
"""Several times the largest lists in use; a million domains take 95 MB of memory."""

_FIELD: Final = "fetch.blocklist_file"
_ADVICE: Final = "Give the path of a text file with one domain a line."
_COMMENTS: Final = ("#", "!", "[")  # of lists, and of filter lists with their heading
_NOWHERE: Final = frozenset({"0.0.0.0", "127.0.0.1", "::", "::1"})  # noqa: S104 - where blocked names lead
_COMMENT: Final = re.compile(r"\s#")
# A rule that blocks a whole domain; others block parts of pages or third-party requests.
_FILTER: Final = re.compile(r"\|\|([^\s/^$|*]+)\^(?:\$(?:all|doc|document|important))?")
# Rules such as `example.org/ad` or `example.org##.ad` must not block the whole domain.
_PLAIN: Final = re.compile(r"[^\s/#?@|^$~=,%&:]+")


def read_blocklist(path: Path) -> frozenset[str]:
    """Read domains from a file.

    A line is a domain, `0.0.0.0 ads.example` as in a hosts file, or the filter `||ads.example^`.
    Comments start with `#` or `!`. Other lines are skipped, and their number is logged.

    Args:
        path: a UTF-8 file of at most 1,000,000 lines and 50 MB.

    Returns:
        Domains as `normalise_domain` gives them; empty for a file without lines.

    Raises:
        SettingsError: the file cannot be read or is too long, or none of its lines is valid.
    """
    names: set[str] = set()
    wrong = 0
    try:
        if not path.is_file():
            raise _error(f"{path} is not a file" if path.exists() else f"{path} does not exist")
        if path.stat().st_size > MAX_BYTES:
            raise _error(f"{path} is longer than {MAX_BYTES // 1_000_000} MB")
        with path.open(encoding="utf-8-sig", errors="replace") as lines:
            for number, line in enumerate(lines):
                if number >= MAX_LINES:
                    raise _error(f"{path} has more than {MAX_LINES:,} lines")
                try:
                    names.update(_domains_in(line.strip()))
                except ValueError:
                    wrong += 1
    except (OSError, ValueError) as exc:  # ValueError: a NUL in the path
        reason = getattr(exc, "strerror", None) or str(exc)
        raise _error(f"{path} cannot be read: {reason}") from exc
    if wrong and not names:
        raise _error(f"{path} contains no domains: none of its lines could be parsed")
    if wrong:
        logger.warning("fetch.blocklist_lines_skipped count=%d", wrong)
    return frozenset(names)


def _domains_in(line: str) -> Iterable[str]:
    """Return the domains that one line blocks.

    Raises:
        ValueError: the line has no known form.
    """
    if not line or line.startswith(_COMMENTS):
        return ()
    if match := _FILTER.fullmatch(line):
        return (_domain(match[1]),)
    if "#" in line:
        line = _COMMENT.split(line, maxsplit=1)[0]
    address, *names = line.split()
    if not names:
        return (_domain(address),)
    if address not in _NOWHERE:
        raise ValueError("a host's real address blocks nothing")
    # Names without a dot belong to the machine: localhost, broadcasthost.
    return [_domain(name) for name in names if "." in name]


def _domain(text: str) -> str:
    if not _PLAIN.fullmatch(text):
        return str(ipaddress.ip_address(text))
    return normalise_domain(text)


def _error(message: str) -> SettingsError:
    return SettingsError(_FIELD, message, advice=_ADVICE)


class DomainPolicy:
    """Blocked domains, and the only allowed ones, each with its subdomains.

    Blocking wins over allowing. Only names are checked: another name of the same machine, or its IP
    address, is another domain.
    """

    def __init__(
        self,
        blocked: Iterable[str] = (),
        *,
        allowed: Iterable[str] = (),
        blocklist: Path | None = None,
    ) -> None:
        """Take domains in any spelling.

        Args:
            blocked: never fetched.
            allowed: the only ones fetched; empty for all.
            blocklist: a file of more blocked domains, for `read_blocklist`; it is read here, which takes
                half a second for 200,000 lines.

        Raises:
            SettingsError: an entry is not a domain, or a file cannot be read.
        """
        self._blocked = _parsed("fetch.blocked_domains", blocked)
        self._allowed = _parsed("fetch.allowed_domains", allowed)
        if blocklist is not None:
            self._blocked |= read_blocklist(blocklist)

    def check(self, url: URL) -> None:
        """Raise if a URL may not be fetched.

        Raises:
            PolicyError: `blocked_domain`.
        """
        host = url.raw_host or ""
        if self._blocked and is_within(host, self._blocked):
            raise _refusal("The configuration blocks the domain of this address.", url)
        if self._allowed and not is_within(host, self._allowed):
            raise _refusal("The configuration does not allow the domain of this address.", url)


def _parsed(field: str, domains: Iterable[str]) -> frozenset[str]:
    try:
        return frozenset(map(normalise_domain, domains))
    except ValueError as exc:
        raise SettingsError(field, str(exc)) from exc


def _refusal(message: str, url: URL) -> PolicyError:
    return PolicyError(
        message, code=ErrorCode.BLOCKED_DOMAIN, url=str(url), advice="Use another source."
    )

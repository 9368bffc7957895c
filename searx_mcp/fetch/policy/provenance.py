"""How addresses became known: from a search, from a page, or from nowhere we know."""

from collections import Counter, OrderedDict
from collections.abc import Iterable
from hashlib import blake2b
from typing import Final, Literal

from typing_extensions import override
from yarl import URL

from searx_mcp.errors import ErrorCode, PolicyError
from searx_mcp.fetch.config import FetchPolicy
from searx_mcp.models.request import MAX_URL_LENGTH

Source = Literal["search", "link"]
Origin = Literal["search", "link", "person", "unknown"]

REMEMBERED: Final = 20_000
"""Addresses remembered of each source: 8 MB for both."""

_DIGEST: Final = 16


class Provenance:
    """Remembers addresses that were handed out, and lets a policy of fetching depend on it.

    Of each source the last `size` are remembered, apart, so that a page full of links does not push
    out what was found by searching. Only digests are held. Two spellings are one address when they
    lead to the same request: without fragment, with the usual port left out, the host in any case.

    Args:
        policy: which addresses may be fetched.
        size: addresses remembered of each source.
    """

    def __init__(self, policy: FetchPolicy, *, size: int = REMEMBERED) -> None:
        self._policy = policy
        self._size = size
        # Digests with their hosts, the least recently used first.
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
        """Learn addresses that a caller is being shown; what is no web address is passed over."""
        seen = self._seen[source]
        for text in urls:
            url = _parsed(text)
            if url is None:
                continue
            key, host = _digest(url), _host(url)
            if key not in seen:
                seen[key] = host
                self._hosts[host] += 1
            seen.move_to_end(key)
            if len(seen) > self._size:
                self._forget(seen.popitem(last=False)[1])

    def of(self, url: str) -> Literal["search", "link", "unknown"]:
        """How an address became known; `search` if it was both found and linked."""
        parsed = _parsed(url)
        return "unknown" if parsed is None else self._source(parsed)

    def check(self, url: URL, *, by_person: bool) -> Origin:
        """Let an address pass, or refuse it.

        Args:
            url: the address that a caller gave.
            by_person: whether the caller is a person, who may fetch everything.

        Returns:
            How the address became known; `unknown` also if only its host did.

        Raises:
            PolicyError: `blocked_domain`: the policy wants addresses that were seen.
        """
        if by_person:
            return "person"
        source = self._source(url)
        if source != "unknown" or self._policy is FetchPolicy.ANY:
            return source
        if self._policy is FetchPolicy.SEEN:
            what = "addresses that a search found or a page linked to"
        elif self._hosts[_host(url)]:
            return source
        else:
            what = "sites that a search found or a page linked to"
        raise PolicyError(
            f"The configuration allows only {what}.",
            code=ErrorCode.BLOCKED_DOMAIN,
            url=str(url),
            advice="Search for the page first, then fetch it by the address of the result.",
        )

    def _source(self, url: URL) -> Literal["search", "link", "unknown"]:
        key = _digest(url)
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
    """Parse an address of the web."""
    if len(text) > MAX_URL_LENGTH:
        return None
    try:
        url = URL(text)
        # yarl reads some of the authority only when it is asked for.
        is_web = url.scheme in {"http", "https"} and bool(_host(url)) and url.port != 0
    except (ValueError, IndexError, UnicodeError):  # IndexError: yarl 1.25 on "//[]@"
        return None
    return url if is_web else None


def _digest(url: URL) -> bytes:
    text = f"{url.scheme}://{_host(url)}:{url.port}{url.raw_path_qs}"
    return blake2b(text.encode(), digest_size=_DIGEST).digest()


def _host(url: URL) -> str:
    return (url.raw_host or "").removesuffix(".")

"""Which domains an operator keeps from being fetched."""

from collections.abc import Iterable

from yarl import URL

from searx_mcp.errors import ErrorCode, PolicyError, SettingsError
from searx_mcp.fetch.policy.domains import matches_domain, normalise_domain


class DomainPolicy:
    """The domains that are never fetched, each with its subdomains.

    It judges names only. Another name of the same machine, or its IP address, is another domain.
    """

    def __init__(self, blocked: Iterable[str] = ()) -> None:
        """Take domains in any spelling.

        Raises:
            SettingsError: for an entry that is no domain.
        """
        try:
            self._blocked = frozenset(map(normalise_domain, blocked))
        except ValueError as exc:
            raise SettingsError("fetch.blocked_domains", str(exc)) from exc

    def check(self, url: URL) -> None:
        """Let a URL pass, or refuse it.

        Raises:
            PolicyError: `blocked_domain`.
        """
        if self._blocked and matches_domain(url.raw_host or "", self._blocked):
            raise PolicyError(
                "The domain of this address is blocked by the configuration.",
                code=ErrorCode.BLOCKED_DOMAIN,
                url=str(url),
                advice="Use another source.",
            )

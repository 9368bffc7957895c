"""Which domains an operator lets be fetched, and which not."""

from collections.abc import Iterable
from pathlib import Path

from yarl import URL

from searx_mcp.errors import ErrorCode, PolicyError, SettingsError
from searx_mcp.fetch.policy.blocklist import read_blocklist
from searx_mcp.fetch.policy.domains import is_within, normalise_domain


class DomainPolicy:
    """The domains that are never fetched, and those that alone are, each with its subdomains.

    A domain that is both is not fetched. It judges names only: another name of the same machine, or
    its IP address, is another domain.
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
            allowed: alone fetched; empty for all.
            blocklist: a file of more that are never fetched, for `read_blocklist`; it is read here,
                which takes half a second for 200,000 lines.

        Raises:
            SettingsError: for an entry that is no domain, or a file that cannot be read.
        """
        self._blocked = _parsed("fetch.blocked_domains", blocked)
        self._allowed = _parsed("fetch.allowed_domains", allowed)
        if blocklist is not None:
            self._blocked |= read_blocklist(blocklist)

    def check(self, url: URL) -> None:
        """Let a URL pass, or refuse it.

        Raises:
            PolicyError: `blocked_domain`.
        """
        host = url.raw_host or ""
        if self._blocked and is_within(host, self._blocked):
            raise _refusal("The domain of this address is blocked by the configuration.", url)
        if self._allowed and not is_within(host, self._allowed):
            raise _refusal(
                "The domain of this address is not among those that the configuration allows.", url
            )


def _parsed(field: str, domains: Iterable[str]) -> frozenset[str]:
    try:
        return frozenset(map(normalise_domain, domains))
    except ValueError as exc:
        raise SettingsError(field, str(exc)) from exc


def _refusal(message: str, url: URL) -> PolicyError:
    return PolicyError(
        message, code=ErrorCode.BLOCKED_DOMAIN, url=str(url), advice="Use another source."
    )

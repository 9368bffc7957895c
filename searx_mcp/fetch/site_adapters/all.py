"""The tiers there are, by the names of the settings."""

from collections.abc import Callable, Iterable

from searx_mcp.fetch.config import TierName
from searx_mcp.fetch.site_adapters.codeberg import CodebergTier
from searx_mcp.fetch.site_adapters.github.tier import GithubTier
from searx_mcp.fetch.site_adapters.gitlab import GitlabTier
from searx_mcp.fetch.site_adapters.huggingface import HuggingfaceTier
from searx_mcp.fetch.site_adapters.interface import Tier
from searx_mcp.fetch.site_adapters.npm import NpmTier
from searx_mcp.fetch.site_adapters.pypi import PypiTier


def tiers(names: Iterable[TierName], *, github_token: str = "") -> tuple[Tier, ...]:
    """Make tiers; at most one of them knows any address.

    Args:
        names: which, in any order.
        github_token: for GitHub's API; sent to its host only.

    Raises:
        SettingsError: the token cannot be one.
    """
    makers: dict[TierName, Callable[[], Tier]] = {
        TierName.PYPI: PypiTier,
        TierName.NPM: NpmTier,
        TierName.GITHUB: lambda: GithubTier(token=github_token),
        TierName.GITLAB: GitlabTier,
        TierName.CODEBERG: CodebergTier,
        TierName.HUGGINGFACE: HuggingfaceTier,
    }
    return tuple(makers[name]() for name in dict.fromkeys(names))

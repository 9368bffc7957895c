"""What the wikis of Wikimedia have in common."""

from collections.abc import Mapping
from typing import Final

BUCKET: Final = "wikimedia"
"""Wikipedia and Commons count as one: the limits are those of an address at all of Wikimedia's wikis."""
TERMS: Final = "https://www.mediawiki.org/wiki/Wikimedia_APIs/Rate_limits"

PARAMETERS: Final[Mapping[str, str]] = {
    "action": "query",
    "format": "json",
    "formatversion": "2",
    "generator": "search",
}

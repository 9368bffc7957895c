"""Which instance somebody means by a host."""

from collections.abc import Iterable
from urllib.parse import urlsplit

from searx_mcp.errors import InvalidArgumentError
from searx_mcp.models.spelling import did_you_mean, shown


def find_instance(host: str, urls: Iterable[str]) -> str:
    """The base URL that is meant.

    Args:
        host: a host, with its port if it has one, or a whole address.
        urls: base URLs to choose from.

    Raises:
        InvalidArgumentError: it is none of them, or fits several.
    """
    wanted = host.strip().rstrip("/").casefold()
    names = {url: urlsplit(url).netloc.casefold() for url in urls}
    found = [url for url in names if url.rstrip("/").casefold() == wanted]
    found = found or [url for url, name in names.items() if name == wanted]
    if not found:
        raise InvalidArgumentError(
            "host",
            f"{shown(host)} is not in the pool{did_you_mean(wanted, names.values())}",
            advice="`searx-mcp instances list` shows the pool; `instances add` takes own instances.",
        )
    if len(found) > 1:
        raise InvalidArgumentError(
            "host", f"{shown(host)} has several instances", advice=f"Name one: {', '.join(found)}"
        )
    return found[0]

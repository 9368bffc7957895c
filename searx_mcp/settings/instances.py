"""Own instances and their credentials, from the sources of settings.

No message made here shows a user name, a password, a token, or an address that may contain one.
"""

import re
from collections.abc import Sequence
from typing import Final
from urllib.parse import unquote, urlsplit

from pydantic_core import ErrorDetails

from searx_mcp.models.base import refusal
from searx_mcp.models.credentials import Credentials, base_url
from searx_mcp.models.spelling import did_you_mean, shown
from searx_mcp.pool.config import InstancesConfig
from searx_mcp.urls.address import is_private

OWN: Final = "instances.own"
CREDENTIALS: Final = "instances.credentials"
OWN_VARIABLE: Final = "SEARXNG_URL"

UNSHOWN: Final = frozenset({"instances", OWN, CREDENTIALS})
"""Settings whose invalid values are not shown: an address may contain a password, too."""

_MISPLACED: Final = (
    "an address must not contain a user name or password: they belong in instances.credentials, or in"
    f" the environment variable {OWN_VARIABLE}"
)
_UNREADABLE: Final = (
    "an address must look like https://user:password@host/; in its user name and password, write"
    " % @ : / ? # ; , as %25 %40 %3A %2F %3F %23 %3B %2C"
)


def without_credentials(addresses: Sequence[str]) -> tuple[list[str], list[dict[str, str]]]:
    """Remove the user name and password from addresses such as `https://user:password@host/`.

    Both are percent-decoded.

    Returns:
        The addresses without them, and the entries of `instances.credentials` for them.

    Raises:
        ValueError: an address is invalid, and the list contains credentials.
    """
    urls = []
    entries = []
    for address in addresses:
        url, userinfo = _split(address)
        if userinfo is not None:
            name, colon, password = userinfo.partition(":")
            entries.append({"url": url, "username": _decoded(name)})
            if colon:
                entries[-1]["password"] = _decoded(password)
        urls.append(url)
    # A list that is split inside a password leaves pieces that look like an address, or are one.
    if any("@" in address for address in addresses) and not all(map(_is_plain, urls)):
        raise ValueError(_UNREADABLE)
    return urls, entries


def checked(instances: InstancesConfig, *, drop_strangers: bool = False) -> InstancesConfig:
    """Normalise the addresses of own instances, and match the credentials with them.

    Args:
        instances: the table as given.
        drop_strangers: whether to ignore credentials without an instance; otherwise they are an error.

    Raises:
        PydanticCustomError: with the setting to blame.
    """
    try:
        own = tuple(dict.fromkeys(map(base_url, instances.own)))
    except ValueError as error:
        # The invalid text may be part of a list that was split inside a password.
        is_shown = not any("@" in address for address in instances.own)
        raise refusal(OWN, str(error) if is_shown else _MISPLACED) from error
    for url in own:  # what a name resolves to is checked only by connections
        if reason := _in_the_clear(url):
            raise refusal(OWN, reason)
    entries: dict[str, Credentials] = {}
    for entry in instances.credentials:
        if entry.url in own:
            if entries.setdefault(entry.url, entry) != entry:
                raise refusal(CREDENTIALS, f"there are two entries for {entry.url}: keep one")
        elif not drop_strangers:
            raise refusal(CREDENTIALS, f"{entry.url} is not one of the addresses in {OWN}")
    return instances.model_copy(update={"own": own, "credentials": tuple(entries.values())})


def own_address(text: str) -> str:
    """Normalise the address of an own instance that a command adds.

    Raises:
        ValueError: it is not possible; with a sentence for a person.
    """
    url = base_url(text.strip())
    if reason := _in_the_clear(url):
        raise ValueError(reason)
    return url


def wrong_entry(details: ErrorDetails) -> str:
    """Describe for a person what is wrong with one entry of `instances.credentials`."""
    _, _, number, *key = details["loc"]
    match details["type"], key:
        case "value_error", _:
            mistake = str(details["ctx"]["error"])
        case "missing", [name]:
            mistake = f"{name} is missing"
        case "extra_forbidden", [name]:
            mistake = (
                f"{shown(name)[1:-1]} is unknown{did_you_mean(str(name), Credentials.model_fields)}"
            )
        case _, [name]:
            mistake = f"its {name} is not text"
        case _:
            mistake = "it is not a table"
    return f"entry {int(number) + 1}: {mistake}"


def _in_the_clear(url: str) -> str:
    """Say why connections would refuse an address; empty if they would not."""
    parts = urlsplit(url)
    if parts.scheme != "http" or is_private(parts.hostname or "") is not False:
        return ""
    return f"{parts.hostname} is public, and plain http exposes queries and passwords: use https"


def _split(address: str) -> tuple[str, str | None]:
    """Split the user information off an address, RFC 3986 3.2.1; `None` if it has none."""
    scheme, separator, rest = address.partition("://")
    authority = re.split(r"[/\\?#]", rest, maxsplit=1)[0]
    userinfo, at, host = authority.rpartition("@")
    url = f"{scheme}{separator}{host}{rest[len(authority) :]}"
    return (url, userinfo) if at else (address, None)


def _decoded(text: str) -> str:
    # Invalid UTF-8 is converted to text that the check of credentials refuses.
    return unquote(text, errors="surrogateescape")


def _is_plain(url: str) -> bool:
    try:
        base_url(url)
    except ValueError:
        return False
    return "@" not in url

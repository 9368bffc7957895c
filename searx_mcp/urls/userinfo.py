"""User names and passwords in addresses: of no use to a reader, and a way to pose as another site."""

import re
from typing import Final

_USERINFO: Final = re.compile(r"(?i)\A((?:[a-z][a-z0-9+.-]*+:)?//)[^/?#]*@")


def without_userinfo(address: str) -> str:
    """The address without what stands before `@` in front of its host (RFC 3986 3.2.1)."""
    return _USERINFO.sub(r"\1", address) if "@" in address else address

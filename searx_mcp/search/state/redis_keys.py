"""The names of what is kept on a Redis server."""

import re

from searx_mcp.models.instance import Choice


class RedisKeys:
    """The names of our keys on a server. The major version is part of them, as of a file's name.

    Args:
        prefix: in front of all of them.
    """

    def __init__(self, prefix: str) -> None:
        self._ours = f"{prefix}v1:"
        self.records = f"{self._ours}records"
        self.seed = f"{self._ours}seed"
        self.pattern = re.sub(r"[*?\[\]\\^]", r"\\\g<0>", self._ours) + "*"

    def charges(self, account: str) -> str:
        """The charges of an account."""
        return f"{self._ours}charges:{account}"

    def claim(self, job: str) -> str:
        """When a job was claimed."""
        return f"{self._ours}claim:{job}"

    def chosen(self, kind: Choice) -> str:
        """What the user chose of a kind."""
        return f"{self._ours}chosen:{kind}"

    def answer(self, digest: str) -> str:
        """The answer to a query that only its digest names."""
        return f"{self._ours}answer:{digest}"

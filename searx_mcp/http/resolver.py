"""Name resolution that refuses names with forbidden addresses."""

import socket

from aiohttp.abc import AbstractResolver, ResolveResult
from typing_extensions import override

from searx_mcp.http.guard import AddressGuard


class GuardedResolver(AbstractResolver):
    """Passes every answer of another resolver by the guard.

    The HTTP library never asks a resolver about literal addresses; those are judged by URL and
    again when the socket is opened.
    """

    def __init__(self, inner: AbstractResolver, guard: AddressGuard) -> None:
        self._inner = inner
        self._guard = guard

    @override
    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        """Resolve a name all of whose addresses may be dialled.

        Raises:
            BlockedAddressError: at least one address is forbidden.
            OSError: the name does not resolve, or to nothing.
        """
        answers = await self._inner.resolve(host, port, family)
        if not answers:
            raise OSError(socket.EAI_NONAME, "the name has no address")
        self._guard.check_answers(host, port, [answer["host"] for answer in answers])
        return answers

    @override
    async def close(self) -> None:
        """Leave the inner resolver open: whoever made it closes it."""

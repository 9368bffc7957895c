"""What an awaited call fails with."""

from collections.abc import Awaitable
from typing import TypeVar

import pytest

_Error = TypeVar("_Error", bound=BaseException)


async def raised(
    kind: type[_Error] | tuple[type[_Error], ...], call: Awaitable[object], match: str | None = None
) -> _Error:
    """The error of a call that must fail, with such words in it."""
    with pytest.raises(kind, match=match) as caught:
        await call
    return caught.value

"""The arguments of `web_fetch`."""

from collections.abc import Mapping
from functools import partial
from typing import Final

from searx_mcp.arguments.lists import url
from searx_mcp.arguments.names import Converters, named
from searx_mcp.arguments.values import boolean, number_of, size, user_agent
from searx_mcp.errors import InvalidArgumentError
from searx_mcp.models.request import FetchRequest

_CONVERTERS: Final[Converters] = {
    "url": url,
    "timeout": partial(number_of, low=5, high=120, fraction=True),
    "follow_redirects": boolean,
    "max_content_length": size,
    "user_agent": user_agent,
}


def parse_fetch(raw: Mapping[str, object]) -> FetchRequest:
    """Turn the arguments of a `web_fetch` call into a request.

    Raises:
        InvalidArgumentError: for the first argument that is unknown, missing or wrong.
    """
    given = named(raw, _CONVERTERS)
    if "url" not in given:
        raise InvalidArgumentError("url", "is missing; give the address of the page")
    return FetchRequest.model_validate(
        {name: _CONVERTERS[name](*argument) for name, argument in given.items()}
    )

"""The arguments of `web_fetch`."""

import re
from collections.abc import Mapping
from functools import partial
from typing import Any, Final

from searx_mcp.arguments.lists import urls
from searx_mcp.arguments.messages import wrong
from searx_mcp.arguments.names import Converters, is_blank, named
from searx_mcp.arguments.values import boolean, choice, number_of, size, text_of, user_agent
from searx_mcp.errors import InvalidArgumentError
from searx_mcp.models.request import (
    CURSOR_PATTERN,
    MAX_CHARS,
    MAX_OFFSET,
    MIN_CHARS,
    FetchRequest,
    Images,
)


def _cursor(written: str, value: object) -> str:
    if isinstance(value, str):
        spelling = value.strip().lower()
        if spelling and re.fullmatch(CURSOR_PATTERN.removesuffix("$"), spelling):
            return spelling
    raise wrong(written, value, "a cursor from an earlier answer, 16 letters and digits")


_IMAGES: Final = {image.value: image for image in Images}
_CONVERTERS: Final[Converters] = {
    "url": urls,
    "cursor": _cursor,
    "offset": partial(number_of, low=0, high=MAX_OFFSET),
    "limit": partial(number_of, low=MIN_CHARS, high=MAX_CHARS),
    "max_chars": partial(number_of, low=MIN_CHARS, high=MAX_CHARS),
    "section": partial(text_of, limit=300),
    "prompt": partial(text_of, limit=2_000),
    "images": partial(choice, choices=_IMAGES, allowed=f"one of {', '.join(_IMAGES)}"),
    "force_refresh": boolean,
    "timeout": partial(number_of, low=5, high=120, fraction=True),
    "follow_redirects": boolean,
    "max_content_length": size,
    "user_agent": user_agent,
}
_PERSONS: Final[Converters] = {**_CONVERTERS, "ignore_robots": boolean}


def parse_fetch(raw: Mapping[str, object], *, by_person: bool = False) -> FetchRequest:
    """Turn the arguments of a `web_fetch` call into a request.

    Args:
        raw: by name, as the caller wrote them.
        by_person: whether a person makes the call, who may switch robots.txt off.

    Raises:
        InvalidArgumentError: for the first argument that is unknown, missing or wrong.
    """
    converters = _PERSONS if by_person else _CONVERTERS
    given = named(raw, converters)
    if "cursor" in given and "url" in given and is_blank(given["url"][1]):
        del given["url"]
    if "url" not in given and "cursor" not in given:
        raise InvalidArgumentError("url", "is missing; give the address of the page, or a cursor")
    values: dict[str, Any] = {"by_person": by_person}
    values |= {name: converters[name](*argument) for name, argument in given.items()}
    if "url" in values:
        values["url"], *values["further_urls"] = values["url"]
    return FetchRequest.model_validate(values)

"""Releases, from the REST API."""

from collections.abc import Sequence

from searx_mcp.fetch.site_adapters.composing.fields import list_of, object_of
from searx_mcp.fetch.site_adapters.composing.release import write_all, write_one
from searx_mcp.fetch.site_adapters.github.repository import Place
from searx_mcp.fetch.site_adapters.interface import Composed, Material


def compose_one(materials: Sequence[Material | None], *, place: Place) -> Composed:
    """Make a page of one release.

    Raises:
        ValueError: the answer is not what is documented.
    """
    return write_one(object_of(materials[0]), place=place.title, base=place.page)


def compose_all(materials: Sequence[Material | None], *, place: Place) -> Composed:
    """Make a page of the newest releases.

    Raises:
        ValueError: the answer is not what is documented.
    """
    releases, is_whole = list_of(materials[0])
    return write_all(releases, is_whole=is_whole, place=place.title, base=place.page)

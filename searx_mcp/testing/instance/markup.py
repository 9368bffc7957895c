"""Builds escaped HTML from nested calls."""

from collections.abc import Mapping
from html import escape

_VOID = frozenset({"meta", "link", "img", "input", "br", "hr", "source"})


class Markup(str):
    """HTML that is not escaped again."""

    __slots__ = ()


def element(
    name: str, attributes: Mapping[str, str] | None = None, *children: str | None
) -> Markup:
    """Return `<name …>children</name>`; text is escaped, `Markup` is kept, `None` is skipped."""
    opening = "".join(f' {key}="{escape(value)}"' for key, value in (attributes or {}).items())
    if name in _VOID:
        return Markup(f"<{name}{opening}>")
    return Markup(f"<{name}{opening}>{join(*children)}</{name}>")


def join(*children: str | None) -> Markup:
    """Concatenate the children; text is escaped, `Markup` is kept."""
    return Markup(
        "".join(
            child if isinstance(child, Markup) else escape(child)
            for child in children
            if child is not None
        )
    )

"""Functions that build HTML; they escape all text that is not markup, so that untrusted text never runs."""

import html
from collections.abc import Iterable, Sequence
from typing import Final
from urllib.parse import urlsplit

_EMPTY: Final = frozenset({"col", "input", "line", "link", "meta", "rect"})
"""Void elements; those of SVG are self-closing."""


ABSENT: Final = "\u2013"
"""Shown for unknown values."""


class Html(str):
    """HTML that goes into a page unescaped."""

    __slots__ = ()


def element(name: str, /, *children: str | None, **attributes: str | float | bool | None) -> Html:
    """Build an element.

    Args:
        name: name of the element.
        children: markup, and texts to escape; `None` is skipped.
        attributes: `class_` becomes `class`, and `data_live` becomes `data-live`; `True` has no value, and `None`
            and `False` are omitted.
    """
    written_attributes = "".join(
        f" {_name(key)}" if value is True else f' {_name(key)}="{_text(str(value))}"'
        for key, value in attributes.items()
        if value is not None and value is not False
    )
    if name in _EMPTY:
        return Html(f"<{name}{written_attributes}/>")
    return Html(f"<{name}{written_attributes}>{join(children)}</{name}>")


def join(parts: Iterable[str | None]) -> Html:
    """Concatenate markup and texts, which are escaped."""
    return Html("".join(_text(part) for part in parts if part is not None))


def with_code(text: str) -> Html:
    """Convert a text to markup, with code where backticks enclose it."""
    parts = text.split("`")
    if len(parts) % 2 == 0:
        return join((text,))
    return join(element("code", part) if odd % 2 else part for odd, part in enumerate(parts))


def table(
    caption: Html, columns: Iterable[str], rows: Iterable[Html], **attributes: str | bool
) -> Html:
    """Build a table; its roles are explicit, since browsers drop those of a table that CSS lays out as blocks.

    Args:
        caption: element of the caption.
        columns: names of the columns.
        rows: from `table_row`.
        attributes: attributes of the body.
    """
    head = (element("th", name, scope="col", role="columnheader") for name in columns)
    return element(
        "table",
        caption,
        element("thead", element("tr", *head, role="row"), role="rowgroup"),
        element("tbody", *rows, **attributes, role="rowgroup"),
        role="table",
    )


def table_row(name: Html, columns: Sequence[str], cells: Sequence[str]) -> Html:
    """Build a row of a table.

    Args:
        name: content of its header.
        columns: names of the columns of the cells, as labels for narrow screens.
        cells: contents of the cells.
    """
    return element(
        "tr",
        element("th", name, scope="row", role="rowheader"),
        *(
            element("td", cell, role="cell", data_label=label)
            for label, cell in zip(columns, cells, strict=True)
        ),
        role="row",
    )


def link(text: str, url: str) -> Html:
    """Build a link to a web page that sends no referrer; plain text for other addresses."""
    shown = element("bdi", text)
    if urlsplit(url).scheme not in {"http", "https"}:
        return shown
    return element("a", shown, href=url, rel="noreferrer noopener")


def _name(key: str) -> str:
    return key.rstrip("_").replace("_", "-")


def _text(part: str) -> str:
    return part if isinstance(part, Html) else html.escape(part)

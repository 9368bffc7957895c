"""Converts rows of an engine's answer to hits: cleaned, bounded, and with usable addresses."""

import re
from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any, Final

from searx_mcp.content.addresses import absolute_web
from searx_mcp.content.clean import clean_line
from searx_mcp.content.values import Fields, iso_date, loads
from searx_mcp.models.hits import Hit
from searx_mcp.sources.open.engine import OpenQuery, Parsed

MAX_TITLE: Final = 500
MAX_DESCRIPTION: Final = 2_000
MAX_NAME: Final = 100
MAX_NAMES: Final = 100
"""Maximum authors or subjects of one work; papers of large experiments have thousands."""

_MAX_MARKUP: Final = 20_000
"""Maximum characters of an HTML snippet that are read."""
_BREAK = re.compile(r"(?i)<(?=/?(?:p|br|div|li|ul|ol|h[1-6]|tr|jats:p|jats:title|title)\b)")
_ISO = re.compile(r"[0-9]{4}(?:-[0-9]{2}(?:-[0-9]{2}(?:T[0-9:.+-]+)?)?)?")


def json_object(body: bytes, *, key: str = "") -> Fields:
    """Parse an answer that is a JSON object.

    Args:
        body: the answer.
        key: that it must have, if any.

    Raises:
        ValueError: it is not one, or has no such key.
    """
    value = loads(body)
    if not isinstance(value, dict):
        raise ValueError("the answer is not a JSON object")  # noqa: TRY004 - says what the service sent
    if key and key not in value:
        raise ValueError(f"the answer has no {key}")
    return Fields(value)


def plain(markup: str, most: int = MAX_DESCRIPTION) -> str:
    """Return the text of a piece of HTML or JATS on one clean line, without scripts and styles."""
    markup = markup[:_MAX_MARKUP]
    if "<" not in markup and "&" not in markup:
        return clean_line(markup, most)
    from searx_mcp.content.html.guards import guard, parse  # noqa: PLC0415 - no table of engines needs it

    tree = parse(guard(_BREAK.sub(" <", markup)))
    tree.strip_tags(
        ["script", "style", "template", "iframe", "object", "svg", "math"], recursive=True
    )
    return clean_line(tree.body.text() if tree.body else "", most)


class Rows:
    """Collects the hits of one answer.

    Args:
        engine: name of the engine, whose vote they carry.
        query: the query.
    """

    def __init__(self, engine: str, query: OpenQuery) -> None:
        self._engine = engine
        self._query = query
        self._hits: list[Hit] = []
        self._urls: set[str] = set()
        self._seen = 0

    def add(
        self,
        url: str,
        title: str,
        *,
        description: str = "",
        published: str = "",
        thumbnail: str = "",
        author: str = "",
        attribution: str = "",
        template: str = "default",
        **fields: Any,  # noqa: ANN401 - the one field of the template, checked by the model's own type
    ) -> None:
        """Add a row; one without a title or a web address, or a duplicate, is only counted.

        Texts must be plain; `plain` converts them.

        Args:
            url: of the page that the row describes.
            title: its title.
            description: its text.
            published: a date in any form that `iso_date` reads; others are left out.
            thumbnail: address of a small image.
            author: a person or an account.
            attribution: the credit that its licence requires for this row.
            template: SearXNG's row type.
            **fields: of the template, such as `paper=Paper(...)`.
        """
        self._seen += 1
        address = absolute_web("", url)
        heading = clean_line(title, MAX_TITLE)
        if not address or not heading or address in self._urls:
            return
        self._urls.add(address)
        date = iso_date(published) if published else ""
        self._hits.append(
            Hit(
                url=address,
                title=heading,
                position=len(self._hits) + 1,
                description=clean_line(description, MAX_DESCRIPTION),
                engines=(self._engine,),
                published_at=date if _ISO.fullmatch(date) else None,
                thumbnail=absolute_web("", thumbnail) or None,
                category=self._query.category,
                template=template,
                author=clean_line(author, MAX_NAME),
                attribution=clean_line(attribution, MAX_TITLE),
                **fields,
            )
        )

    def skip(self) -> None:
        """Count an unusable row."""
        self._seen += 1

    def parsed(self, *, has_next: bool | None = None, pause: float | None = None) -> Parsed:
        """Return the collected hits.

        Args:
            has_next: whether there is a next page; `None` if the engine does not say.
            pause: seconds for which the engine asks for a pause, or `None`.
        """
        return Parsed(tuple(self._hits), self._seen, has_next, pause)


def licensed(title: str, fields: Mapping[str, str]) -> str:
    """Return the credit that a licence requires: title, author, licence and its address, as far as known.

    Args:
        title: of the work.
        fields: `author`, `licence` and `licence_url`, plain texts.
    """
    author, licence = fields.get("author", ""), fields.get("licence", "")
    if not licence:
        return ""
    by = f" by {author}" if author else ""
    url = absolute_web("", fields.get("licence_url", ""))
    return f"{title}{by}, {licence}{f' ({url})' if url else ''}"


def names(values: Iterable[str]) -> tuple[str, ...]:
    """Return the first names of a list as clean lines."""
    lines = (clean_line(value, MAX_NAME) for value in values)
    return tuple(islice((line for line in lines if line), MAX_NAMES))


def address(url: str) -> str | None:
    """Return a web address, or `None`."""
    return absolute_web("", url) or None


def cited(times: int | None) -> str:
    """Say how often a work is cited; empty if never or unknown."""
    return f"cited {times} times" if times else ""

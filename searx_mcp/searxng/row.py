"""One result row between its format and its model."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from searx_mcp.models.hits import Hit, Infobox, InfoboxAttribute
from searx_mcp.searxng.dates import instant, words
from searx_mcp.searxng.fields import (
    MAX_DESCRIPTION,
    MAX_NAME,
    MAX_TITLE,
    image_address,
    line,
    lines,
    web_address,
)
from searx_mcp.searxng.template_fields import table, template_fields


@dataclass(slots=True, kw_only=True)
class Row:
    """One result row, the same for both formats; fields are what the instance sent.

    Attributes:
        template: as `row_template` gives it.
        details: the fields of the row's template, under the names of upstream's JSON.
    """

    url: object = None
    title: object = None
    description: object = None
    engines: Iterable[object] = ()
    published: object = None
    thumbnail: object = None
    category: object = None
    template: str = "default"
    author: object = None
    details: Mapping[str, object] = field(default_factory=dict)

    @property
    def is_box(self) -> bool:
        """Whether it is a table of labels and values without an address, which is no row."""
        return self.template == "keyvalue" and web_address(self.url) is None

    def to_hit(self, *, position: int, base_url: str) -> Hit | None:
        """Make a hit of the row.

        Args:
            position: the row's 1-based place in the list.
            base_url: the instance, for addresses that point into it.

        Returns:
            `None` if the row has no usable address.
        """
        url = web_address(self.url)
        if url is None and self.template == "images":
            url = image_address(self.details.get("img_src"), base_url)
        if url is None:
            return None
        published_at = instant(self.published) if self.published else None
        return Hit(
            url=url,
            # Engines find images without any title; the address tells more than nothing.
            title=line(self.title, MAX_TITLE) or line(url.partition("://")[2], MAX_TITLE),
            description=line(self.description, MAX_DESCRIPTION),
            engines=tuple(sorted(lines(self.engines))),
            position=position,
            published_at=published_at,
            published_text=words(self.published) if self.published and not published_at else "",
            thumbnail=image_address(self.thumbnail, base_url) if self.thumbnail else None,
            category=line(self.category, MAX_NAME),
            template=self.template,
            author=line(self.author, MAX_NAME) if self.author else "",
            **template_fields(self.template, self.details, base_url),
        )

    def to_infobox(self) -> Infobox | None:
        """Make a box of a table without an address.

        Returns:
            A box named by the table's caption, its title or its engine; `None` for any other row,
            and for a table in which nothing can be read.
        """
        if not self.is_box:
            return None
        facts = table(self.details)
        engine = next(iter(sorted(lines(self.engines))), "")
        title = (
            line(self.details.get("caption"), MAX_TITLE) or line(self.title, MAX_TITLE) or engine
        )
        if not facts or not title:
            return None
        return Infobox(
            title=title,
            content=line(self.description, MAX_DESCRIPTION),
            attributes=tuple(
                InfoboxAttribute(label=fact.label, value=fact.value) for fact in facts
            ),
            engine=engine,
        )

"""Settings for converting pages to text."""

from typing import Annotated, Final, Self

from pydantic import Field

from searx_mcp.models.base import Frozen
from searx_mcp.models.style import Images, Links, Style

_FORM: Final = 4
"""Version of the conversion, so that no older form of a stored page is shown."""


class MarkdownConfig(Frozen):
    """The `[markdown]` table: what the Markdown of a page keeps."""

    images: Images = Field(
        default=Images.ALT,
        description="Images become alt text (alt), links (links), inline images (inline) or nothing (none).",
    )
    links: Links = Field(
        default=Links.INLINE,
        description="Link addresses follow their words (inline), move to the end (footnotes) or go (none).",
    )
    tables: bool = Field(
        default=True, description="Write tables; false writes each row's cells on one line."
    )
    captions: bool = Field(
        default=True,
        description="Show captions of figures as [caption: words]; false leaves them to the list of images.",
    )
    max_heading_level: Annotated[int, Field(ge=1, le=6)] = Field(
        default=6, description="Deeper headings become bold lines."
    )


MAX_ELEMENTS: Final = 60_000
"""Most elements of a page that is converted: the steps after the parser take 25 µs per element. The largest of 1,497
real pages has 21,646 tags, including closing ones."""


class ContentConfig(MarkdownConfig):
    """How a page is converted to Markdown: the settings in `[markdown]`, and limits on the work.

    Attributes:
        summarize: whether a summary is made.
        max_summary_length: characters of a summary at most.
        keep_code_blocks: whether fenced code stays in the Markdown.
        max_page_chars: characters of a page's HTML that are read; a longer one becomes plain text.
        max_elements: of a page that is converted, counted by opening tags; one with more becomes plain text.
        max_fragment_bytes: of a fragment that markdownify converts; it needs 1.9 s for 1 MB of flat
            HTML, so a longer one becomes plain text.
        max_fragment_depth: deepest nesting of such a fragment; markdownify raises RecursionError at
            500 nested elements.
    """

    summarize: bool = True
    max_summary_length: Annotated[int, Field(ge=50)] = 500
    keep_code_blocks: bool = True
    max_page_chars: Annotated[int, Field(ge=1_024)] = 5_000_000
    max_elements: Annotated[int, Field(ge=100)] = MAX_ELEMENTS
    max_fragment_bytes: Annotated[int, Field(ge=1_024)] = 1_048_576
    max_fragment_depth: Annotated[int, Field(ge=10, le=400)] = 200

    def of_call(self, images: Images | None) -> Self:
        """A copy with the images of a call, if it sets them."""
        return self if images is None else self.model_copy(update={"images": images})

    @property
    def style(self) -> Style:
        """The style in which the Markdown of a page is written."""
        return Style(
            images=self.images,
            links=self.links,
            keep_tables=self.tables,
            keep_captions=self.captions,
            max_heading_level=self.max_heading_level,
            keep_code_blocks=self.keep_code_blocks,
        )

    @property
    def form(self) -> str:
        """The form of the Markdown as a key: equal for two configurations with the same output for every page."""
        code = "code" if self.keep_code_blocks else "no code"
        tables = "tables" if self.tables else "no tables"
        captions = "captions" if self.captions else "no captions"
        limits = (self.max_heading_level, self.max_page_chars, self.max_elements)
        return ",".join(map(str, (_FORM, self.images, self.links, tables, captions, code, *limits)))

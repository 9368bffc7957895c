"""Settings of turning pages into text."""

from typing import Annotated

from pydantic import Field

from searx_mcp.models.base import Frozen


class ContentConfig(Frozen):
    """How a page becomes Markdown.

    Attributes:
        summarize: whether a summary is made.
        max_summary_length: characters of a summary at most.
        keep_code_blocks: whether fenced code stays in the Markdown.
        max_html_bytes: decoded HTML converted to Markdown at most; markdownify needs 1.9 s for 1 MB
            of flat HTML, so a longer page becomes plain text.
        max_depth: deepest nesting of elements converted; markdownify raises RecursionError at 500
            nested elements.
    """

    summarize: bool = True
    max_summary_length: Annotated[int, Field(ge=50)] = 500
    keep_code_blocks: bool = True
    max_html_bytes: Annotated[int, Field(ge=1_024)] = 1_048_576
    max_depth: Annotated[int, Field(ge=10, le=400)] = 200

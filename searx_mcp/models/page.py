"""One fetched page, with the field names of the specification."""

from collections.abc import Mapping

from searx_mcp.models.base import Frozen


class Page(Frozen):
    """One page as Markdown.

    Attributes:
        url: as asked for.
        final_url: after redirects.
        title: plain text; empty if the page has none.
        description: the page's own description; empty if it has none.
        content_type: media type in lower case, without parameters.
        content_length: decoded bytes read.
        status_code: of the last hop.
        response_time_ms: from the call to the last byte.
        markdown_content: the main content.
        word_count: words of the Markdown.
        summary: whole sentences; empty when switched off.
        headers: `server`, `content-encoding`, `content-language` and `last-modified`, if sent.
        redirect_count: hops after the first address.
        redirect_chain: `url -> status`, one entry per hop, the last page included.
        truncated: whether the content was cut at a limit, a deadline or a broken body.
        hidden_chars_removed: invisible and control characters taken out of the text.
        notes: sentences a caller should know.
    """

    url: str
    final_url: str
    title: str = ""
    description: str = ""
    content_type: str
    content_length: int
    status_code: int
    response_time_ms: int
    markdown_content: str
    word_count: int
    summary: str = ""
    headers: Mapping[str, str] = {}
    redirect_count: int = 0
    redirect_chain: tuple[str, ...] = ()
    truncated: bool = False
    hidden_chars_removed: int = 0
    notes: tuple[str, ...] = ()

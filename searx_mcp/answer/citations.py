"""Quotes of pages, each compared with the page before it leaves."""

from searx_mcp.models.evidence import Citation
from searx_mcp.storage.corpus import StoredChunk, StoredPage


def cite(chunk: StoredChunk, page: StoredPage, question: str, *, source: int) -> Citation | None:
    """Quote what of a chunk answers a question best; `None` if that is not in the page."""
    raise NotImplementedError

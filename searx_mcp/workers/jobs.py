"""The jobs there are, by name."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from searx_mcp.content.convert import page_job, text_job
from searx_mcp.workers.interface import Job, Result


def _pdf(body: bytes, options: Mapping[str, Any]) -> Result:
    # Its library takes time and memory to load, and most processes never read a PDF.
    from searx_mcp.content import pdf  # noqa: PLC0415 - see above

    return pdf.read(body, options)


JOBS: Final[Mapping[str, Job]] = MappingProxyType(
    {
        "page": page_job,
        "pdf": _pdf,
        "text": text_job,
    }
)

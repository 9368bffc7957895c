"""The jobs there are, by name."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from searx_mcp.content import pdf
from searx_mcp.workers.interface import Job

JOBS: Final[Mapping[str, Job]] = MappingProxyType({"pdf": pdf.read})

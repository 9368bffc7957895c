"""Settings of the processes that read documents."""

from typing import Annotated

from pydantic import Field

from searx_mcp.models.base import ByteCount, Frozen


class WorkersConfig(Frozen):
    """The `[workers]` table: how many processes read documents, and what each may use."""

    processes: Annotated[int, Field(ge=0, le=64)] = Field(
        default=0, description="Processes that parse documents; 0 for one fewer than the cores."
    )
    memory: Annotated[ByteCount, Field(ge=268_435_456, le=17_179_869_184)] = Field(
        default=536_870_912,
        description="Bytes of memory such a process may use, such as 512MB; not on Windows.",
    )
    job_timeout: Annotated[float, Field(ge=1, le=120)] = Field(
        default=20.0, description="Seconds to parse one document."
    )
    idle: Annotated[float, Field(ge=1, le=3_600)] = Field(
        default=60.0, description="Seconds without work after which such a process exits."
    )

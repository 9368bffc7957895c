"""Settings of answers."""

from typing import Annotated

from pydantic import Field

from searx_mcp.evidence.requests import MAX_EXPANSION
from searx_mcp.models.base import Frozen


class AnswerConfig(Frozen):
    """The `[answer]` table: how far `answer` goes for its evidence."""

    seeds: Annotated[int, Field(ge=1, le=20)] = Field(
        default=4, description="Search results to read if a call names no page."
    )
    max_expansion_depth: Annotated[int, Field(ge=0, le=5)] = Field(
        default=3, description="Maximum depth of links followed from the named pages."
    )
    expansion_budget: Annotated[int, Field(ge=0, le=MAX_EXPANSION)] = Field(
        default=6, description="Maximum linked pages read by default."
    )

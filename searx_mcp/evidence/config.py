"""Settings of answers, of the corpus, and of the servers that can help to search it."""

from typing import Annotated, Literal, Self

from pydantic import (
    ConfigDict,
    Field,
    SecretStr,
    model_validator,
)

from searx_mcp.evidence.requests import MAX_EXPANSION
from searx_mcp.models.base import Address, ByteCount, Frozen, Key, matching, refusal

_Model = Annotated[
    str, matching(r"^[\x21-\x7e]{0,200}$", "at most 200 visible ASCII characters without spaces")
]


class CorpusConfig(Frozen):
    """The `[corpus]` table: pages that `read_page` and `answer` store."""

    max_size: Annotated[ByteCount, Field(ge=1_048_576, le=1_099_511_627_776)] = Field(
        default=536_870_912,
        description="Maximum bytes of the corpus, such as 512MB; least recently used pages go first.",
    )
    max_age: Annotated[float, Field(ge=60, le=315_360_000)] = Field(
        default=7_776_000.0,
        description="Seconds after which an unused page is deleted.",
    )
    fresh_for: Annotated[float, Field(ge=0, le=31_536_000)] = Field(
        default=3_600.0,
        description="Seconds a page is used without asking its site, unless the site allows longer.",
    )
    chunk_tokens: Annotated[int, Field(ge=0, le=8_192)] = Field(
        default=0, description="Maximum tokens per chunk; 0 for 1,600 characters."
    )
    concurrency: Annotated[int, Field(ge=1, le=64)] = Field(
        default=4,
        description="Pages of one call read at once, and concurrent calls to the embedding server.",
    )


class EmbeddingConfig(Frozen):
    """The `[embedding]` table: vectors, which find other wordings."""

    # A key may be in the wrong place, so pydantic's errors must not show their input.
    model_config = ConfigDict(hide_input_in_errors=True)

    provider: Literal["auto", "none", "static", "http"] = Field(
        default="auto",
        description="none, static (extra embed), http (needs url), or auto: whichever is available.",
    )
    url: Address = Field(
        default="",
        description="Base URL of an OpenAI-compatible server, such as http://127.0.0.1:11434/v1.",
    )
    key: Key = Field(default=SecretStr(""), description="Bearer token for that server.")
    model: _Model = Field(
        default="", description="Name of its model; vectors from another model are recomputed."
    )
    dimensions: Annotated[int, Field(ge=0, le=8_192)] = Field(
        default=0, description="Dimensions requested from the model; 0 for its default."
    )
    timeout: Annotated[float, Field(ge=0.5, le=120)] = Field(
        default=10.0, description="Seconds one call to that server may take."
    )
    threshold: Annotated[float, Field(ge=-1, le=1)] = Field(
        default=-1.0,
        description="Similarity below which chunks with few query words are in doubt; -1: the model's own.",
    )

    @model_validator(mode="after")
    def _check_server(self) -> Self:
        if self.provider == "http" and not self.url:
            raise refusal("embedding.url", "is missing; provider http needs it")
        return self


class RerankConfig(Frozen):
    """The `[rerank]` table: a server that reorders the best chunks."""

    model_config = ConfigDict(hide_input_in_errors=True)

    url: Address = Field(
        default="",
        description="URL of a rerank endpoint with the API of Jina, Cohere or TEI; empty for none.",
    )
    key: Key = Field(default=SecretStr(""), description="Bearer token for it.")
    model: _Model = Field(default="", description="Name of its model, if required.")
    timeout: Annotated[float, Field(ge=0.5, le=120)] = Field(
        default=5.0, description="Seconds a call to it may take."
    )
    candidates: Annotated[int, Field(ge=1, le=200)] = Field(
        default=30, description="Chunks to reorder."
    )


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

"""A server that reorders the best chunks, with the API of Jina, Cohere or Text Embeddings Inference."""

import asyncio
import logging
import math
from collections.abc import Callable, Sequence
from http import HTTPStatus
from typing import Final

from pydantic import AliasChoices, BaseModel, Field, TypeAdapter, ValidationError

from searx_mcp.errors import SearxMcpError
from searx_mcp.evidence.config import RerankConfig
from searx_mcp.evidence.corpus.embedding import post
from searx_mcp.http.http import HttpSession

_MOST_CHARS: Final = 4_000
"""Maximum characters of a text; a server fails altogether if a text is longer than its model can read."""

_log = logging.getLogger("searx_mcp.evidence.corpus")


class _Row(BaseModel):
    index: int
    score: float = Field(validation_alias=AliasChoices("relevance_score", "score"))


class _Results(BaseModel):
    results: list[_Row]


_ANSWER: Final = TypeAdapter[_Results | list[_Row]](_Results | list[_Row])


class Reranker:
    """Asks the server; if it fails, the order does not change."""

    def __init__(self, config: RerankConfig, session: Callable[[], HttpSession]) -> None:
        """Keep the parts; makes no request.

        Args:
            config: the `[rerank]` table, with a URL.
            session: returns the connections.
        """
        self._config = config
        self._session = session

    async def rerank(
        self, question: str, texts: Sequence[str], *, deadline: float | None = None
    ) -> list[float] | None:
        """Score texts by how well they answer a question.

        Args:
            question: in words.
            texts: to score.
            deadline: the loop time by which to return.

        Returns:
            A number from 0 to 1 for each text, in order; `None` if the server did not return one for each.
        """
        cut = [text[:_MOST_CHARS] for text in texts]
        named: dict[str, object] = {"query": question, "texts": cut}  # Text Embeddings Inference
        if self._config.model:
            named = {"model": self._config.model, "query": question, "documents": cut}
        request = post(
            self._config.url,
            named,
            key=self._config.key.get_secret_value(),
            timeout=self._config.timeout,
        )
        try:
            async with asyncio.timeout_at(deadline), asyncio.timeout(self._config.timeout):
                response = await self._session().send(request)
                if response.status != HTTPStatus.OK:
                    _log.warning("corpus.rerank_failed reason=%s", f"HTTP {response.status}")
                    return None
                answer = await asyncio.to_thread(_ANSWER.validate_json, response.body)
        except (SearxMcpError, TimeoutError, ValidationError) as error:
            _log.warning("corpus.rerank_failed reason=%s", type(error).__name__)
            return None
        rows = answer.results if isinstance(answer, _Results) else answer
        scores = {row.index: row.score for row in rows if math.isfinite(row.score)}
        if set(scores) != set(range(len(texts))):
            return None
        # Some return logits instead of probabilities.
        is_share = all(0 <= score <= 1 for score in scores.values())
        return [
            scores[index] if is_share else 1 / (1 + math.exp(-max(-60.0, min(scores[index], 60.0))))
            for index in range(len(texts))
        ]

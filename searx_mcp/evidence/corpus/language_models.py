"""Models that help to search: for vectors, a local static one or an OpenAI-compatible server; for the order, a server.

A vector is stored as 16-bit floats of length 1, so that the dot product of two is their similarity.
"""

import asyncio
import json
import logging
import math
import random
import struct
import sys
from collections.abc import Callable, Sequence
from functools import cached_property
from http import HTTPStatus
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, Protocol
from urllib.parse import urlsplit, urlunsplit

from pydantic import AliasChoices, BaseModel, Field, FiniteFloat, TypeAdapter, ValidationError

from searx_mcp.errors import ErrorCode, SearxMcpError, SettingsError, TransportError
from searx_mcp.evidence.config import EmbeddingConfig, RerankConfig
from searx_mcp.http.http import HttpSession, Request

if sys.version_info >= (3, 12):
    from math import sumprod
else:
    from operator import mul

    def sumprod(one: Sequence[float], other: Sequence[float]) -> float:
        """Multiply two vectors."""
        return math.fsum(map(mul, one, other))


BATCH: Final = 32
"""Texts per request."""
_MOST_CHARS: Final = 8_000
"""Maximum characters of a text; models truncate or refuse longer ones."""
_MOST_RANKED_CHARS: Final = 4_000
"""The same for a rerank server, which fails altogether if a text is longer than its model can read."""
_MAX_BYTES: Final = 16 << 20
"""Maximum bytes of an answer: 32 vectors of 8,192 numbers in 20 characters have 5 MB."""
_RETRY_PAUSE: Final = 0.25
PAUSE: Final = 30.0
"""Seconds for which a failed server is not asked, so that not every question waits for it in turn."""
_STATIC: Final = "wordllama-256"
_STATIC_FLOOR: Final = 0.3
"""In four labelled sets, 7 of 100 questions have no chunk above it, and 87 of 100 answers are."""
_VERSION: Final = 1
"""Version of how texts are prepared for the model, and vectors afterwards; other versions' vectors are recomputed."""

_log = logging.getLogger("searx_mcp.evidence.corpus")


class Embedder(Protocol):
    """Computes vectors.

    Attributes:
        model: identifies vectors that can be compared.
        floor: similarity below which a chunk is unlikely to answer; `None` if unknown.
    """

    model: str
    floor: float | None

    async def embed(self, texts: Sequence[str], *, deadline: float | None = None) -> list[bytes]:
        """Compute a vector of each text, in order.

        Args:
            texts: any; the vector of an empty one is similar to nothing.
            deadline: the loop time by which to return.

        Raises:
            SearxMcpError: it is not possible now.
        """
        ...


def open_embedder(
    config: EmbeddingConfig, session: Callable[[], HttpSession], *, at_once: int, rng: random.Random
) -> Embedder | None:
    """Return the embedder of the settings, if any; loads and requests nothing yet.

    Args:
        config: the `[embedding]` table.
        session: returns the connections to the server.
        at_once: concurrent requests.
        rng: random source for the pause before a retry.

    Raises:
        SettingsError: what the settings need is not installed.
    """
    if config.provider == "http" or (config.provider == "auto" and config.url):
        return ServerEmbedder(config, session, at_once=at_once, rng=rng)
    if config.provider == "static":
        check_static()
        return StaticEmbedder(config)
    return StaticEmbedder(config) if config.provider == "auto" and _has_static() else None


def check_static() -> None:
    """Check that the library of static vectors is installed.

    Raises:
        SettingsError: it is not installed.
    """
    if not _has_static():
        raise SettingsError(
            "embedding.provider", "static needs the extra embed: pip install 'searx-mcp[embed]'"
        )


def _has_static() -> bool:
    return find_spec("wordllama") is not None


class StaticEmbedder:
    """Computes vectors with WordLlama, whose model is part of its package: nothing is downloaded."""

    def __init__(self, config: EmbeddingConfig) -> None:
        """Load nothing yet.

        Args:
            config: the `[embedding]` table.
        """
        self.model = f"{_STATIC} v{_VERSION}"
        self.floor: float | None = _floor(config, _STATIC_FLOOR)
        self._turn = asyncio.Lock()

    @cached_property
    def _words(self) -> Any:  # noqa: ANN401 - the library has no types
        library = _without_logging("wordllama")
        # It looks for its tokenizer in a folder with another name than the one it ships in, and would
        # download it.
        folder = Path(str(library.__file__)).parent
        return library.WordLlama.load(cache_dir=folder, disable_download=True)

    async def embed(self, texts: Sequence[str], *, deadline: float | None = None) -> list[bytes]:
        """Compute a vector of each text; see `Embedder`."""
        began = asyncio.get_running_loop().time()
        try:
            async with asyncio.timeout_at(deadline), self._turn:
                vectors = await asyncio.to_thread(
                    self._embed, [text[:_MOST_CHARS] for text in texts]
                )
        except Exception as exc:
            # The library or its model may have another version, or be broken.
            _log.warning("corpus.embedding_failed reason=%s", type(exc).__name__)
            raise SearxMcpError("The static model was not ready in time.") from exc
        _note_batch(texts, began)
        return vectors

    def _embed(self, texts: Sequence[str]) -> list[bytes]:
        # For a text without words it computes NaN.
        rows = iter(self._words.embed([text for text in texts if text.strip()] or ["."]))
        return [pack(next(rows).tolist() if text.strip() else ()) for text in texts]


def _without_logging(name: str) -> Any:  # noqa: ANN401 - a module without types
    """Import a library that would configure the process's logging unless it is configured already."""
    root, nothing = logging.getLogger(), logging.NullHandler()
    root.addHandler(nothing)
    try:
        return import_module(name)
    finally:
        root.removeHandler(nothing)


class _Row(BaseModel):
    index: int
    embedding: list[FiniteFloat]


class _Answer(BaseModel):
    data: list[_Row]


class ServerEmbedder:
    """Computes vectors with a server that supports OpenAI's `POST /v1/embeddings`."""

    def __init__(
        self,
        config: EmbeddingConfig,
        session: Callable[[], HttpSession],
        *,
        at_once: int,
        rng: random.Random,
    ) -> None:
        """Keep the parts; makes no request.

        Args:
            config: the `[embedding]` table, with a URL.
            session: returns the connections.
            at_once: concurrent requests.
            rng: random source for the pause before a retry.
        """
        size = f"/{config.dimensions}" if config.dimensions else ""
        self.model = f"{config.model}{size} v{_VERSION}"
        self.floor: float | None = _floor(config, None)
        self._config = config
        self._session = session
        self._slots = asyncio.Semaphore(at_once)
        self._rng = rng
        self._not_before = -math.inf

    async def embed(self, texts: Sequence[str], *, deadline: float | None = None) -> list[bytes]:
        """Compute a vector of each text; see `Embedder`."""
        loop = asyncio.get_running_loop()
        if loop.time() < self._not_before:
            raise _failed("failed a moment ago and is not asked again yet")
        try:
            async with asyncio.timeout_at(deadline), asyncio.TaskGroup() as group:
                tasks = [
                    group.create_task(self._embed(texts[at : at + BATCH]))
                    for at in range(0, len(texts), BATCH)
                ]
        except TimeoutError as exc:
            raise _failed("did not answer in time") from exc
        except ExceptionGroup as group_error:
            self._not_before = loop.time() + PAUSE
            raise _first(group_error) from None
        return [vector for task in tasks for vector in task.result()]

    async def _embed(self, texts: Sequence[str]) -> list[bytes]:
        async with self._slots, asyncio.timeout(self._config.timeout):
            began = asyncio.get_running_loop().time()
            answer = await self._asked([text[:_MOST_CHARS] or " " for text in texts])
        by_index = {row.index: row.embedding for row in answer.data}
        if len(answer.data) != len(texts) or set(by_index) != set(range(len(texts))):
            raise _failed(f"returned {len(answer.data)} vectors for {len(texts)} texts")
        _note_batch(texts, began)
        return [pack(by_index[index]) for index in range(len(texts))]

    async def _asked(self, texts: Sequence[str]) -> _Answer:
        body: dict[str, object] = {"model": self._config.model, "input": texts}
        if self._config.dimensions:
            body["dimensions"] = self._config.dimensions
        request = _post(
            endpoint(self._config.url, "embeddings"),
            body,
            key=self._config.key.get_secret_value(),
            timeout=self._config.timeout,
        )
        response = await self._session().send(request)
        if response.status >= HTTPStatus.INTERNAL_SERVER_ERROR:
            await asyncio.sleep(self._rng.uniform(_RETRY_PAUSE, 2 * _RETRY_PAUSE))
            response = await self._session().send(request)
        if response.status != HTTPStatus.OK:
            raise _failed(f"answered HTTP {response.status}")
        try:
            return await asyncio.to_thread(_Answer.model_validate_json, response.body)
        except ValidationError:
            raise _failed("returned something other than embeddings") from None


def _note_batch(texts: Sequence[str], began: float) -> None:
    elapsed = asyncio.get_running_loop().time() - began
    _log.debug("corpus.embedding_batch texts=%d ms=%d", len(texts), 1_000 * elapsed)


class _Score(BaseModel):
    index: int
    score: float = Field(validation_alias=AliasChoices("relevance_score", "score"))


class _Scores(BaseModel):
    results: list[_Score]


_ORDER: Final = TypeAdapter[_Scores | list[_Score]](_Scores | list[_Score])


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
        cut = [text[:_MOST_RANKED_CHARS] for text in texts]
        named: dict[str, object] = {"query": question, "texts": cut}  # Text Embeddings Inference
        if self._config.model:
            named = {"model": self._config.model, "query": question, "documents": cut}
        request = _post(
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
                answer = await asyncio.to_thread(_ORDER.validate_json, response.body)
        except (SearxMcpError, TimeoutError, ValidationError) as error:
            _log.warning("corpus.rerank_failed reason=%s", type(error).__name__)
            return None
        rows = answer.results if isinstance(answer, _Scores) else answer
        scores = {row.index: row.score for row in rows if math.isfinite(row.score)}
        if set(scores) != set(range(len(texts))):
            return None
        # Some return logits instead of probabilities.
        is_share = all(0 <= score <= 1 for score in scores.values())
        return [
            scores[index] if is_share else 1 / (1 + math.exp(-max(-60.0, min(scores[index], 60.0))))
            for index in range(len(texts))
        ]


def _post(url: str, body: object, *, key: str, timeout: float) -> Request:
    """Build a JSON request to one of the operator's servers."""
    headers = {"Accept": "application/json", "Content-Type": "application/json"}
    if key:
        headers["Authorization"] = f"Bearer {key}"
    data = json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")
    return Request(url=url, headers=headers, timeout=timeout, max_bytes=_MAX_BYTES, body=data)


def endpoint(url: str, name: str) -> str:
    """Return the address of an endpoint under a base URL, which may contain it, or its version, or neither.

    `http://host:8080`, `…/v1` and `…/v1/embeddings` are all `http://host:8080/v1/embeddings`.
    """
    parts = urlsplit(url)
    path = parts.path.rstrip("/")
    if not path.endswith(f"/{name}"):
        path = f"{path}/{name}" if path else f"/v1/{name}"
    return urlunsplit(parts._replace(path=path))


def pack(vector: Sequence[float]) -> bytes:
    """Normalise a vector to length 1, as 16-bit floats; one without a direction becomes empty."""
    length = math.hypot(*vector)
    if not (math.isfinite(length) and length > 0):
        return b""
    return struct.pack(f"<{len(vector)}e", *(number / length for number in vector))


def unpack(vector: bytes) -> tuple[float, ...]:
    """Read what `pack` wrote."""
    return struct.unpack(f"<{len(vector) // 2}e", vector[: len(vector) // 2 * 2])


def cosine(one: Sequence[float], other: Sequence[float]) -> float:
    """Return the similarity of two vectors of length 1, from -1 to 1; 0 if they cannot be compared."""
    return sumprod(one, other) if len(one) == len(other) else 0.0


def _floor(config: EmbeddingConfig, usual: float | None) -> float | None:
    return config.threshold if config.threshold > -1 else usual


def _failed(reason: str) -> TransportError:
    return TransportError(f"The embedding server {reason}.", code=ErrorCode.CONNECTION_ERROR)


def _first(group: ExceptionGroup[Exception]) -> Exception:
    """Return the cause of a group of failures, as one of our errors."""
    error = group.exceptions[0]
    if isinstance(error, ExceptionGroup):
        return _first(error)
    if isinstance(error, TimeoutError):
        return _failed("did not answer in time")
    if isinstance(error, SearxMcpError):
        _log.warning("corpus.embedding_failed reason=%s", error.message)
        return error
    return error

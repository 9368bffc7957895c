"""Wires answering questions with evidence, on first use."""

from typing import TYPE_CHECKING

from searx_mcp.client.stores import open_corpus
from searx_mcp.evidence.answer.answerer import Answerer
from searx_mcp.evidence.corpus.corpus import Corpus
from searx_mcp.evidence.corpus.language_models import Reranker, open_embedder
from searx_mcp.evidence.corpus.retrieval import Retriever

if TYPE_CHECKING:
    from searx_mcp.client.asking import Asking
    from searx_mcp.client.wiring import Components


def wire_answering(parts: "Components", asking: "Asking", namespace: str) -> Answerer:
    """Wire the answerer; opens nothing yet.

    Args:
        parts: of the open client, which closes what is wired here.
        asking: searches and reads pages.
        namespace: of the pages.

    Raises:
        SettingsError: a setting is not usable.
    """
    settings, sessions = parts.settings, parts.sessions
    store = open_corpus(settings, parts.folder, namespace)
    embedder = open_embedder(
        settings.embedding,
        lambda: sessions.get().operator,
        at_once=settings.corpus.concurrency,
        rng=parts.rng,
    )
    reranker = None
    if settings.rerank.url:
        reranker = Reranker(settings.rerank, lambda: sessions.get().operator)
    corpus = Corpus(
        store,
        asking.fetcher,
        Retriever(
            store,
            embedder,
            reranker,
            candidates=settings.rerank.candidates,
            spawn=parts.tasks.spawn,
        ),
        turns=asking.turns,
        config=settings.corpus,
        clock=parts.clock,
    )
    parts.readers.push_async_callback(corpus.aclose)
    return Answerer(
        corpus,
        asking.searcher.search,
        indexes=asking.indexes,
        config=settings.answer,
        language=settings.search.default_language,
    )

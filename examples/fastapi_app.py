"""Search as a JSON API with FastAPI: the client lives as long as the app, responses are typed.

uvicorn --app-dir examples fastapi_app:app        # http://127.0.0.1:8000/docs
"""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated

from fastapi import Depends, FastAPI, Query, Request
from fastapi.responses import JSONResponse

from searx_mcp import Page, SearchResponse, SearxClient, SearxMcpError
from searx_mcp.errors import FetchError, InvalidArgumentError, PolicyError
from searx_mcp.settings.sources import load


@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncIterator[None]:
    """Open the client with the app and close it with the app."""
    async with SearxClient(load(environ=os.environ).settings) as client:
        app.state.client = client
        yield


def client_of(request: Request) -> SearxClient:
    """Give the client to a route."""
    client: SearxClient = request.app.state.client
    return client


app = FastAPI(title="Search", lifespan=lifespan)
Client = Annotated[SearxClient, Depends(client_of)]


@app.exception_handler(SearxMcpError)
async def explain(_: Request, error: SearxMcpError) -> JSONResponse:
    """Answer with the code, the sentence and the time after which to try again."""
    status = 503
    if isinstance(error, InvalidArgumentError | PolicyError):
        status = 422  # the same request would be refused again
    elif isinstance(error, FetchError):
        status = 424  # the page failed, not this server
    wait = {"Retry-After": f"{error.retry_after:.0f}"} if error.retry_after else {}
    return JSONResponse({"code": error.code, "message": error.message}, status, headers=wait)


@app.get("/search")
async def search(client: Client, q: Annotated[str, Query(min_length=1)]) -> SearchResponse:
    """Search the web."""
    return await client.search(q, fetch_content=False)


@app.get("/page")
async def page(client: Client, url: str) -> Page:
    """Read a page as Markdown."""
    return await client.fetch(url)

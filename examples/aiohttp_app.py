"""A search page in an aiohttp app: one client for the life of the app.

python examples/aiohttp_app.py        # http://127.0.0.1:8080/?q=bees
"""

import os
from collections.abc import AsyncIterator
from html import escape

from aiohttp import web

from searx_mcp import SearxClient, SearxMcpError
from searx_mcp.settings.sources import load

CLIENT = web.AppKey("client", SearxClient)
FORM = '<!doctype html><title>Search</title><form><input name="q" autofocus></form>'


async def searching(app: web.Application) -> AsyncIterator[None]:
    """Open the client with the app and close it with the app."""
    async with SearxClient(load(environ=os.environ).settings) as client:
        app[CLIENT] = client
        yield


async def page(request: web.Request) -> web.Response:
    """Show the form and, for a query, its results; everything in them was written by strangers."""
    query = request.query.get("q", "")
    if not query:
        return web.Response(text=FORM, content_type="text/html")
    try:
        found = await request.app[CLIENT].search(query, fetch_content=False)
    except SearxMcpError as error:
        return web.Response(text=f"{error.message} {error.advice}", status=503)
    rows = "".join(
        f'<li><a href="{escape(row.url)}">{escape(row.title)}</a><p>{escape(row.description)}'
        for row in found.results
    )
    return web.Response(text=f"{FORM}<ol>{rows}</ol>", content_type="text/html")


def build() -> web.Application:
    """Make the app."""
    app = web.Application()
    app.router.add_get("/", page)
    app.cleanup_ctx.append(searching)
    return app


if __name__ == "__main__":
    web.run_app(build(), host="127.0.0.1", port=int(os.environ.get("PORT", "8080")))

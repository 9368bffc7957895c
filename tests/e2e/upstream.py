"""A search engine on loopback for a real SearXNG to ask: `python tests/e2e/upstream.py PORT`.

It answers like another instance does, which searx's own `searx_engine` passes on unchanged, so
that no engine code is needed.

- `POST /search` with the form `q`, `category`, `pageno`: five rows a page, three pages. Row `n` of
  a category points to `<site>/<category>/<n>`. A query with the word `table` has a table of labels
  and values before them.
- `PUT /site`: the body is the base URL the rows point to from now on.
- `GET /`: 200, for waiting until it serves.
"""

import json
import sys
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs

ROWS = 5
PAGES = 3


def extras(category: str, url: str) -> dict[str, Any]:
    """Give the fields that only rows of the category have."""
    rows: dict[str, dict[str, Any]] = {
        "images": {
            "template": "images.html",
            "img_src": f"{url}.png",
            "thumbnail_src": f"{url}.small.png",
            "img_format": "png 1920x1080",
            "source": "A Gallery",
        },
        "videos": {
            "template": "videos.html",
            "thumbnail": f"{url}.png",
            "length": "3:20",
            "author": "A. Filmer",
            "embedded": f'<iframe width="5" data-src="{url}/embed"></iframe>',
        },
        "music": {"embedded": f'<audio controls><source src="{url}.mp3"></audio>'},
        "it": {
            "template": "code.html",
            "repository": f"{url}/repository",
            "codelines": [[9, "def f(x):"], [10, "    return x"], [20, "f(1)"]],
            "code_language": "python",
        },
        "map": {
            "template": "map.html",
            "latitude": 52.5,
            "longitude": 13.4,
            "boundingbox": [52, 53, 13, 14],
            "address": {
                "name": "A Place",
                "house_number": "1a",
                "road": "Main St",
                "locality": "A Town",
                "postcode": "12345",
                "country": "A Country",
            },
            "data": [{"label": "Phone", "value": "1", "key": "phone"}],
            "links": [{"label": "Site", "url": f"{url}/site", "url_label": "site"}],
            "osm": {"type": "node", "id": 1},
            "geojson": {"type": "Point", "coordinates": [13.4, 52.5]},
        },
        "files": {
            "template": "torrent.html",
            "seed": 7,
            "leech": 1,
            "filesize": 1_048_576,
            "files": 2,
            "magnetlink": "magnet:?xt=urn:btih:" + "0" * 40,
            "torrentfile": f"{url}.torrent",
        },
    }
    return rows.get(category, {})


def answer(site: str, *, query: str, category: str, page: int) -> dict[str, Any]:
    """Give one result page in SearXNG's JSON shape; a pure function of its arguments."""
    results: list[dict[str, Any]] = []
    if "table" in query.split():
        results.append(
            {"template": "key-value.html", "title": "Facts", "name": "A Name", "size": 5}
        )
    if page <= PAGES:
        for n in range((page - 1) * ROWS + 1, page * ROWS + 1):
            url = f"{site}/{category}/{n}"
            text = f"What the {category} row {n} says about {query}."
            row = {"url": url, "title": f"{category} {n}: {query}", "content": text}
            results.append(row | extras(category, url))
    return {
        "query": query,
        "number_of_results": PAGES * ROWS,
        "results": results,
        "answers": [],
        "infoboxes": [],
        "suggestions": [f"{query} explained"],
    }


class Upstream(ThreadingHTTPServer):
    """The server; `site` is where its rows point to."""

    site = "http://127.0.0.1:9"


class Handler(BaseHTTPRequestHandler):
    """One request."""

    @property
    def upstream(self) -> Upstream:
        assert isinstance(self.server, Upstream)
        return self.server

    def do_GET(self) -> None:
        self._send({})

    def do_PUT(self) -> None:
        self.upstream.site = self._body().rstrip("/")
        self._send({})

    def do_POST(self) -> None:
        form = {name: values[0] for name, values in parse_qs(self._body()).items()}
        reply = answer(
            self.upstream.site,
            query=form.get("q", ""),
            category=form.get("category", "general"),
            page=int(form.get("pageno", "1")),
        )
        self._send(reply)

    def _body(self) -> str:
        return self.rfile.read(int(self.headers.get("Content-Length", "0"))).decode()

    def _send(self, reply: Mapping[str, Any]) -> None:
        body = json.dumps(reply).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


if __name__ == "__main__":
    Upstream(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()

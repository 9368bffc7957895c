"""Our conversion and those of others.

    PEER_PYTHON -m benchmarks.fidelity_scoring.converters < JOBS

reads `{page: [url, html]}` and writes `{converter: {page: Markdown}}` for every converter that this
Python has; so that others need not be installed beside us.
"""

import importlib
import json
import sys
from collections.abc import Callable, Mapping
from contextlib import redirect_stdout
from typing import Any, Final

OURS: Final = "searx-mcp"

Converter = Callable[[str, str], str]
"""From an address and a page to Markdown."""


def ours(url: str, html: str) -> str:
    """Markdown as a caller gets it."""
    config = importlib.import_module("searx_mcp.content.config")
    convert = importlib.import_module("searx_mcp.content.convert")
    body = html.encode("utf-8", "replace")
    converted = convert.convert(
        body, media_type="text/html", charset="utf-8", url=url, config=config.ContentConfig()
    )
    return str(converted.markdown)


def others() -> tuple[dict[str, Converter], dict[str, str]]:
    """The converters that can be imported, and why the rest cannot."""
    found: dict[str, Converter] = {}
    absent: dict[str, str] = {}
    for name, (modules, make) in _OTHERS.items():
        try:
            found[name] = make(*map(importlib.import_module, modules))
        except ImportError as error:
            absent[name] = str(error)
    return found, absent


def written(converter: Converter, pages: Mapping[str, tuple[str, str]]) -> dict[str, str]:
    """The Markdown of every page; empty where the converter fails."""
    texts = {}
    for name, (url, html) in pages.items():
        try:
            with redirect_stdout(sys.stderr):
                texts[name] = converter(url, html) or ""
        except (Exception, RecursionError) as error:  # noqa: BLE001 # what others raise is theirs
            print(f"{name}: {error!r}"[:200], file=sys.stderr)
            texts[name] = ""
    return texts


def _markdownify(library: Any) -> Converter:  # noqa: ANN401 - a module
    return lambda _, html: str(library.markdownify(html, heading_style="ATX"))


def _html_to_markdown(library: Any) -> Converter:  # noqa: ANN401 - a module
    def convert(_: str, html: str) -> str:
        result = library.convert(html)
        return str(getattr(result, "content", result))

    return convert


def _readability(readability: Any, library: Any) -> Converter:  # noqa: ANN401 - modules
    def convert(_: str, html: str) -> str:
        summary = readability.Document(html).summary()
        return str(library.markdownify(summary, heading_style="ATX"))

    return convert


def _trafilatura(library: Any) -> Converter:  # noqa: ANN401 - a module
    def convert(url: str, html: str) -> str:
        found = library.extract(
            html, url=url, output_format="markdown", include_links=True, include_formatting=True
        )
        return found or ""

    return convert


def _mcp_server_fetch(server: Any) -> Converter:  # noqa: ANN401 - a module
    return lambda _, html: str(server.extract_content_from_html(html))


def _html2text(library: Any) -> Converter:  # noqa: ANN401 - a module
    return lambda _, html: str(library.html2text(html))


def _markitdown(library: Any) -> Converter:  # noqa: ANN401 - a module
    io = importlib.import_module("io")
    reader = library.MarkItDown()

    def convert(_: str, html: str) -> str:
        stream = io.BytesIO(html.encode("utf-8", "replace"))
        return str(reader.convert_stream(stream, file_extension=".html").text_content)

    return convert


_OTHERS: Final[dict[str, tuple[tuple[str, ...], Callable[..., Converter]]]] = {
    "markdownify": (("markdownify",), _markdownify),
    "html-to-markdown": (("html_to_markdown",), _html_to_markdown),
    "readability-lxml + markdownify": (("readability", "markdownify"), _readability),
    "trafilatura": (("trafilatura",), _trafilatura),
    "mcp-server-fetch": (("mcp_server_fetch.server",), _mcp_server_fetch),
    "markitdown": (("markitdown",), _markitdown),
    "html2text": (("html2text",), _html2text),
}


def main() -> None:
    """Convert what standard input names with all that is installed."""
    pages: dict[str, tuple[str, str]] = json.load(sys.stdin)
    found, _ = others()
    json.dump({name: written(converter, pages) for name, converter in found.items()}, sys.stdout)


if __name__ == "__main__":
    main()

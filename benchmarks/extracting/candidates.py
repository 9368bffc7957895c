"""Those who read a page: this package, and every peer that is installed.

Each makes a function from bytes to text or Markdown when it is first asked for. Peers that take text
only get it decoded by this package, outside of their time.
"""

import importlib
import importlib.util
import logging
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from searx_mcp.content.config import ContentConfig
from searx_mcp.content.convert import convert
from searx_mcp.content.decode import decode

OURS: Final = "searx-mcp"
UNCAPTIONED: Final = "searx-mcp, no captions"
"""Ours without the captions of figures, which no set counts as content."""

TRAFILATURA_MARKDOWN: Final = "trafilatura (Markdown)"

Read = Callable[[bytes, str], str]
"""A body and its address to text or Markdown."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """One who reads pages.

    Attributes:
        name: in tables and on the command line.
        modules: what must be installed.
        make: gives what turns a body, or its text, into text or Markdown.
        is_markdown: whether its marks are to be taken away before it is scored.
        takes_text: whether it wants the body decoded.
    """

    name: str
    modules: tuple[str, ...]
    make: Callable[[], Callable[[Any, str], str]]
    is_markdown: bool = True
    takes_text: bool = True

    @property
    def is_installed(self) -> bool:
        """Whether all it needs can be imported."""
        return all(importlib.util.find_spec(module) for module in self.modules)


def input_of(candidate: Candidate, body: bytes) -> bytes | str:
    """Give the body in the form that a candidate takes."""
    return decode(body, charset=None)[0] if candidate.takes_text else body


def _ours(*, captions: bool = True) -> Read:
    config = ContentConfig(captions=captions)

    def read(body: bytes, url: str) -> str:
        page = convert(body, media_type="text/html", charset=None, url=url, config=config)
        return page.markdown

    return read


def _trafilatura(**options: object) -> Callable[[bytes, str], str]:
    logging.getLogger("trafilatura").setLevel(logging.CRITICAL)
    extract = _load("trafilatura").extract
    return lambda body, _: (
        extract(body, include_comments=False, include_tables=True, **options) or ""
    )


def _readability(*, to_markdown: bool) -> Callable[[str, str], str]:
    logging.getLogger("readability").setLevel(logging.CRITICAL)
    document = _load("readability").Document
    if to_markdown:
        markdownify = _load("markdownify").markdownify
        return lambda html, _: markdownify(document(html).summary(), heading_style="ATX")
    parse = _load("lxml.html").fromstring
    return lambda html, _: "\n".join(parse(document(html).summary()).itertext())


def _resiliparse() -> Callable[[str, str], str]:
    parse = _load("resiliparse.parse.html").HTMLTree.parse
    extract = _load("resiliparse.extract.html2text").extract_plain_text
    return lambda html, _: extract(parse(html), main_content=True)


def _html_to_markdown() -> Callable[[str, str], str]:
    converter = _load("html_to_markdown").convert
    return lambda html, _: converter(html).content or ""


def _markdownify() -> Callable[[str, str], str]:
    soup, converter = _load("bs4").BeautifulSoup, _load("markdownify").MarkdownConverter

    def read(html: str, _: str) -> str:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that a page begins as XML does
            page = soup(html, "lxml")
        for element in page(["script", "style", "noscript", "template"]):
            element.decompose()
        return str(converter(heading_style="ATX").convert_soup(page))

    return read


def _mcp_server_fetch() -> Callable[[str, str], str]:
    """Make what `mcp_server_fetch.server.extract_content_from_html` does on a machine without Node."""
    simplify = _load("readabilipy.simple_json").simple_json_from_html_string
    markdownify = _load("markdownify").markdownify

    def read(html: str, _: str) -> str:
        content = simplify(html, use_readability=False)["content"]
        return markdownify(content, heading_style="ATX") if content else ""

    return read


def _load(module: str) -> Any:  # noqa: ANN401 - peers are optional, and most ship no types
    return importlib.import_module(module)


CANDIDATES: Final[Mapping[str, Candidate]] = {
    candidate.name: candidate
    for candidate in (
        Candidate(OURS, (), _ours, takes_text=False),
        Candidate(UNCAPTIONED, (), partial(_ours, captions=False), takes_text=False),
        Candidate(
            "trafilatura", ("trafilatura",), _trafilatura, is_markdown=False, takes_text=False
        ),
        Candidate(
            TRAFILATURA_MARKDOWN,
            ("trafilatura",),
            partial(_trafilatura, output_format="markdown", include_links=True),
            takes_text=False,
        ),
        Candidate(
            "readability-lxml",
            ("readability", "lxml"),
            partial(_readability, to_markdown=False),
            is_markdown=False,
        ),
        Candidate(
            "readability-lxml + markdownify",
            ("readability", "markdownify"),
            partial(_readability, to_markdown=True),
        ),
        Candidate("resiliparse", ("resiliparse",), _resiliparse, is_markdown=False),
        Candidate("html-to-markdown", ("html_to_markdown",), _html_to_markdown),
        Candidate("markdownify", ("bs4", "lxml", "markdownify"), _markdownify),
        Candidate("mcp-server-fetch", ("readabilipy", "markdownify"), _mcp_server_fetch),
    )
}


def chosen(names: str | None) -> list[Candidate]:
    """Give this package and the peers to hold it against.

    Args:
        names: parts of names, separated by commas; `none` for no peer, `None` for all that are
            installed.

    Raises:
        ValueError: a name fits no peer, or one that is not installed.
    """
    ours, uncaptioned, *peers = CANDIDATES.values()
    if names is None:
        return [ours, uncaptioned, *(peer for peer in peers if peer.is_installed)]
    wanted = [name.strip() for name in names.split(",") if name.strip() not in {"", "none"}]
    found = {name: [peer for peer in peers if name in peer.name] for name in wanted}
    for name, matching in found.items():
        if not any(peer.is_installed for peer in matching):
            known = ", ".join(peer.name for peer in peers if peer.is_installed)
            raise ValueError(f"{name} is no peer that is installed; there are: {known or 'none'}")
    fitting = {peer.name for matching in found.values() for peer in matching if peer.is_installed}
    return [ours, uncaptioned, *(peer for peer in peers if peer.name in fitting)]

"""The formats of indexes by name, and the signs on a page by which each is found."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from searx_mcp.content.site_index.entry import Format
from searx_mcp.content.site_index.formats import (
    docusaurus,
    doxygen,
    inventory,
    javadoc,
    just_the_docs,
    llms_txt,
    mdbook,
    mkdocs,
    rustdoc,
    sitemap,
    sphinx,
    vitepress,
)

FORMATS: Final[Mapping[str, Format]] = {
    found.name: found
    for found in (
        sphinx.FORMAT, sphinx.FOLDERS, inventory.FORMAT, mkdocs.FORMAT, mdbook.FORMAT, vitepress.FORMAT,
        docusaurus.FORMAT, javadoc.FORMAT, doxygen.FORMAT, just_the_docs.FORMAT, rustdoc.FORMAT,
        llms_txt.FORMAT, sitemap.FORMAT,
    )
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Sign:
    """A file that a page loads or names, which tells of an index.

    Attributes:
        mark: of the path of that file; where it begins is the root of the documentation.
        files: the index with the name of its format, the best first, relative to the root; none if the file itself
            is the index.
        format: of the file itself.
        generator: how the page's `<meta name=generator>` begins, in lower case; empty if that does not matter.
    """

    mark: re.Pattern[str]
    files: tuple[tuple[str, str], ...] = ()
    format: str = ""
    generator: str = ""


def _at(mark: str) -> re.Pattern[str]:
    return re.compile(rf"(?:(?<=/)|\A){mark}")


_SEARCH_INDEX: Final = (("search/search_index.json", "mkdocs"),)

SIGNS: Final = (
    Sign(_at(r"llms\.txt\Z"), format="llms.txt"),
    Sign(
        _at(r"_static/(?:documentation_options|doctools|searchtools)\.js\Z"),
        (("searchindex.js", "sphinx"), ("objects.inv", "sphinx-inventory")),
    ),
    Sign(_at(r"search/main\.js\Z"), _SEARCH_INDEX),
    Sign(_at(r"assets/(?:javascripts|stylesheets)/"), _SEARCH_INDEX, generator="mkdocs"),
    Sign(_at(r"searchindex(?:-[0-9a-f]{1,64})?\.js(?:on)?\Z"), format="mdbook"),
    Sign(_at(r"searcher(?:-[0-9a-f]{1,64})?\.js\Z"), (("searchindex.js", "mdbook"),)),
    Sign(_at(r"@localSearchIndex[\w.-]{1,100}\.js\Z"), format="vitepress"),
    Sign(
        _at(r"assets/js/(?:runtime~)?main\.[\w.]{1,40}\.js\Z"),
        (("search-index.json", "docusaurus"), ("search-doc.json", "docusaurus")),
        generator="docusaurus",
    ),
    Sign(
        _at(r"(?:script-dir/|script-files/|jquery/jszip)"), (("type-search-index.js", "javadoc"),)
    ),
    Sign(_at(r"search/searchdata\.js\Z"), (("search/searchdata.js", "doxygen"),)),
    Sign(_at(r"search/search\.js\Z"), (("search/searchdata.js", "doxygen"),), generator="doxygen"),
    Sign(_at(r"assets/js/just-the-docs\.js\Z"), (("assets/js/search-data.json", "just-the-docs"),)),
    Sign(_at(r"search-index[\w.-]{0,60}\.js\Z"), format="rustdoc"),
    Sign(_at(r"sitemap[\w.-]{0,60}\.xml\Z"), format="sitemap"),
)
"""In the order in which the indexes of a page are tried."""

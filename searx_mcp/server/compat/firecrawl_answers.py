"""The responses of Firecrawl's routes."""

from typing import Annotated, Literal

from pydantic import ConfigDict, Field
from pydantic.alias_generators import to_camel

from searx_mcp.models.base import Frozen


class _CamelCase(Frozen):
    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True)


class FirecrawlMetadata(_CamelCase):
    """What is known about a page.

    Attributes:
        source_url: address as requested.
        url: address after redirects.
        status_code: HTTP status of the page.
        cache_state: `hit` for a kept copy, otherwise `miss`.
        cached_at: when a kept copy was read.
        title, description, language, content_type, published_time, modified_time, og_site_name: as the page states.
    """

    source_url: Annotated[str, Field(alias="sourceURL")]
    url: str
    status_code: int
    content_type: str | None = None
    title: str | None = None
    description: str | None = None
    language: str | None = None
    published_time: str | None = None
    modified_time: str | None = None
    og_site_name: str | None = None
    cache_state: Literal["hit", "miss"] | None = None
    cached_at: str | None = None


class FirecrawlDocument(_CamelCase):
    """A page in the requested formats.

    Attributes:
        markdown: the page as Markdown.
        links: addresses of its links.
        images: addresses of its images.
        summary: sentences of the page.
        warning: what is missing.
        metadata: facts about the page.
    """

    markdown: str | None = None
    links: tuple[str, ...] | None = None
    images: tuple[str, ...] | None = None
    summary: str | None = None
    warning: str | None = None
    metadata: FirecrawlMetadata


class FirecrawlScraped(_CamelCase):
    """The answer to a scrape.

    Attributes:
        success: always true.
        data: the page.
    """

    success: Literal[True] = True
    data: FirecrawlDocument


class FirecrawlResult(_CamelCase):
    """A result.

    Attributes:
        title: plain text.
        url: address of the page.
        position: its place, from 1.
        description: excerpt of the page, from a search engine.
        snippet: the same, for news.
        date: ISO 8601 as far as known, for news.
        image_url: address of the image, for images.
        markdown: the page as Markdown, if requested and read.
        summary: sentences of the page, if requested and read.
    """

    title: str
    url: str
    position: int
    description: str | None = None
    snippet: str | None = None
    date: str | None = None
    image_url: str | None = None
    markdown: str | None = None
    summary: str | None = None


class FirecrawlFoundV1(_CamelCase):
    """The answer to a search.

    Attributes:
        success: always true.
        data: results, best first.
        warning: what is missing.
    """

    success: Literal[True] = True
    data: tuple[FirecrawlResult, ...]
    warning: str | None = None


class FirecrawlSources(_CamelCase):
    """Results by source, best first; only the requested source.

    Attributes:
        web, news, images: results of this source.
    """

    web: tuple[FirecrawlResult, ...] | None = None
    news: tuple[FirecrawlResult, ...] | None = None
    images: tuple[FirecrawlResult, ...] | None = None


class FirecrawlFound(_CamelCase):
    """The answer to a search.

    Attributes:
        success: always true.
        data: the results.
        warning: what is missing.
    """

    success: Literal[True] = True
    data: FirecrawlSources
    warning: str | None = None


class FirecrawlError(_CamelCase):
    """The body of an error.

    Attributes:
        success: always false.
        error: what went wrong, in a sentence.
        code: Firecrawl's code, if it has one for this error.
    """

    success: Literal[False] = False
    error: str
    code: str | None = None

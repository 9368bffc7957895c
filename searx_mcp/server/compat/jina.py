"""Jina's reader: `GET /r/<url>`, with its headers. The query string of a request belongs to the address in its path."""

import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Annotated, Any, Final, Literal
from urllib.parse import unquote

from pydantic import BeforeValidator, ConfigDict, Field
from starlette.requests import Request

from searx_mcp.errors import ErrorCode, SearxMcpError
from searx_mcp.models.base import Frozen
from searx_mcp.models.fetch_request import USER_AGENT_PATTERN
from searx_mcp.models.page import Page
from searx_mcp.models.style import Images
from searx_mcp.render.errors import cause_of
from searx_mcp.server.rest.foreign import (
    Foreign,
    page_timeout,
    read,
    read_page,
    status_for,
    to_fetch,
    warning_of,
)
from searx_mcp.server.rest.operation import Body, Call, Operation, Text, body, body_of
from searx_mcp.settings.tools import Tool

_PREFIX: Final = "/r/"
_JSON: Final = "application/json"
_TEXT: Final = "text/plain; charset=utf-8"
_SCHEME: Final = re.compile(r"(?i)(https?):/{1,3}(?=[^/])")
"""Proxies merge two slashes into one."""
_ESCAPED: Final = re.compile(r"(?i)https?%3a")
_MOST_SECONDS: Final = 180
_IMAGES: Final = MappingProxyType({"none": Images.NONE, "all": Images.INLINE, "alt": Images.ALT})


def _lower(value: object) -> object:
    return value.strip().lower() if isinstance(value, str) else value


Flag = Annotated[bool, BeforeValidator(_lower)]
Word = BeforeValidator(_lower)
Declined = Annotated[Literal["false", "0", "none", ""] | None, Word]
"""A header for a feature that is not offered."""


def _header(name: str) -> str:
    return f"x-{name.replace('_', '-')}"


class JinaRead(Foreign):
    """A page to read. All but the address are headers.

    Attributes:
        url: address of the page, as the rest of the path and the query.
        accept: `application/json` for JSON; otherwise text.
        return_format, respond_with: `content` or `markdown`; the second leaves the head of the text out.
        no_cache: whether to read the page again.
        cache_tolerance: maximum age of a stored copy in seconds.
        timeout: seconds for the page.
        retain_images: how images appear.
        with_links_summary, with_images_summary: whether to list them after the text.
        user_agent: User-Agent to send.
        robots_txt: ignored; robots.txt is always obeyed.
        retain_links: links stay.
        engine: ignored, except that a browser is not offered.
        target_selector, wait_for_selector, remove_selector, with_generated_alt, set_cookie, proxy, proxy_url,
            referer, locale, token_budget, max_tokens, with_iframe, with_shadow_dom, keep_img_data_url,
            markdown_chunking: not offered.
    """

    model_config = ConfigDict(alias_generator=_header)

    url: Annotated[str, Field(alias="url")]
    accept: Annotated[str, Field(alias="accept")] = ""
    return_format: Annotated[Literal["content", "markdown"] | None, Word] = None
    respond_with: Annotated[Literal["content", "markdown"] | None, Word] = None
    no_cache: Flag = False
    cache_tolerance: Annotated[int, Field(ge=0)] | None = None
    timeout: Annotated[float, Field(ge=1, le=_MOST_SECONDS)] | None = None
    retain_images: Annotated[Literal["none", "all", "alt"] | None, Word] = None
    with_links_summary: Annotated[Literal["true", "all", "false"] | None, Word] = None
    with_images_summary: Annotated[Literal["true", "all", "false"] | None, Word] = None
    user_agent: Annotated[str, Field(pattern=USER_AGENT_PATTERN)] | None = None
    robots_txt: str | None = None
    retain_links: Annotated[Literal["all"] | None, Word] = None
    engine: Annotated[Literal["auto", "direct", "curl"] | None, Word] = None
    target_selector: Declined = None
    wait_for_selector: Declined = None
    remove_selector: Declined = None
    with_generated_alt: Declined = None
    set_cookie: Declined = None
    proxy: Declined = None
    proxy_url: Declined = None
    referer: Declined = None
    locale: Declined = None
    token_budget: Declined = None
    max_tokens: Declined = None
    with_iframe: Declined = None
    with_shadow_dom: Declined = None
    keep_img_data_url: Declined = None
    markdown_chunking: Declined = None


class JinaPage(Frozen):
    """A page.

    Attributes:
        title: plain text; may be empty.
        description: the page's own; may be empty.
        url: address after redirects.
        content: Markdown.
        publishedTime: as the page states.
        links: addresses by link text, if requested.
        images: addresses by description, if requested.
        warning: what is missing.
    """

    title: str
    description: str
    url: str
    content: str
    publishedTime: str | None = None  # noqa: N815 - Jina's name
    links: Mapping[str, str] | None = None
    images: Mapping[str, str] | None = None
    warning: str | None = None


class JinaAnswer(Frozen):
    """The answer if the client accepts JSON.

    Attributes:
        code: 200.
        status: 20000.
        data: the page.
    """

    code: int
    status: int
    data: JinaPage


class JinaError(Frozen):
    """The body of an error.

    Attributes:
        code: HTTP status.
        status: the same with two more digits.
        name: the kind of error.
        message: what went wrong, in a sentence.
        data: nothing.
    """

    code: int
    status: int
    name: str
    message: str
    data: None = None


_HEADERS: Final = frozenset(
    alias for field in JinaRead.model_fields.values() if (alias := field.alias) and alias != "url"
)
_FETCHES: Final = {"url": "url", "user_agent": "user_agent"}


def read_arguments(request: Request) -> Mapping[str, Any]:
    """Return the address in a request, and the headers that say how to read it."""
    raw = request.scope.get("raw_path") or request.scope["path"].encode()
    url = raw.decode("latin-1").partition(_PREFIX)[2]
    if _ESCAPED.match(url):
        url = unquote(url)
    if query := request.scope["query_string"].decode("latin-1"):
        url = f"{url}?{query}"
    url = _SCHEME.sub(r"\1://", url, count=1) if _SCHEME.match(url) else url
    return {
        "url": url,
        **{name: value for name, value in request.headers.items() if name in _HEADERS},
    }


async def read_url(call: Call) -> Body:
    """Read a page."""
    arguments = read(JinaRead, call.arguments)
    extra: dict[str, Any] = {"images": _IMAGES[arguments.retain_images or "all"]}
    if arguments.no_cache or arguments.cache_tolerance == 0:
        extra["force_refresh"] = True
    if arguments.timeout is not None:
        extra["timeout"] = page_timeout(arguments.timeout)
    page = await read_page(
        call, to_fetch(arguments, _FETCHES, extra), arguments.cache_tolerance or None
    )
    jina_page = _page(page, arguments)
    if _JSON in arguments.accept.lower():
        return body_of(JinaAnswer(code=200, status=20_000, data=jina_page))
    if "markdown" in {arguments.return_format, arguments.respond_with}:
        return Text(jina_page.content, _TEXT)
    return body(jina_page, lambda: Text("\n\n".join(_text(jina_page)) + "\n", _TEXT))


def _page(page: Page, arguments: JinaRead) -> JinaPage:
    links = {each.text or each.url: each.url for each in page.links}
    images = {f"Image {n}: {each.alt}": each.url for n, each in enumerate(page.images, 1)}
    return JinaPage(
        title=page.title,
        description=page.description,
        url=page.final_url,
        content=page.markdown_content,
        publishedTime=page.published or None,
        links=links if arguments.with_links_summary in {"true", "all"} else None,
        images=images if arguments.with_images_summary in {"true", "all"} else None,
        warning=warning_of(page),
    )


def _text(page: JinaPage) -> Iterator[str]:
    """Yield the parts of a page in Jina's format."""
    yield f"Title: {page.title}"
    yield f"URL Source: {page.url}"
    if page.publishedTime:
        yield f"Published Time: {page.publishedTime}"
    if page.warning:
        yield f"Warning: {page.warning}"
    yield f"Markdown Content:\n{page.content}"
    if page.images is not None:
        yield "\n".join(("Images:", *(f"- ![{alt}]({url})" for alt, url in page.images.items())))
    if page.links is not None:
        rows = (f"- [{words}]({url})" for words, url in page.links.items())
        yield "\n".join(("Links/Buttons:", *rows))


def error_response(error: SearxMcpError) -> tuple[int, Mapping[str, Any]]:
    """Return Jina's status and body for an error."""
    status = status_for(error)
    name = "ParamValidationError" if error.code is ErrorCode.INVALID_ARGUMENT else error.code.value
    body = {"data": None, "code": status, "status": status * 100, "name": name}
    return status, {**body, "message": cause_of(error)}


OPERATIONS: Final = (
    Operation(
        name="jina_read",
        method="GET",
        path="/r/{url}",
        summary="Read a page like Jina's reader.",
        request=JinaRead,
        responses=(JinaAnswer,),
        statuses=(400, 422, 424, 500, 504),
        perform=read_url,
        tool=Tool.WEB_FETCH,
        error=JinaError,
        error_response=error_response,
        read_arguments=read_arguments,
        media_types=("text/plain", _JSON),
    ),
)

"""What the browser's failures mean."""

from typing import Final

from playwright.async_api import Error
from playwright.async_api import TimeoutError as PlaywrightTimeoutError
from yarl import URL

from searx_mcp.errors import (
    ContentError,
    ErrorCode,
    FetchError,
    PolicyError,
    RedirectError,
    SiteError,
    TransportError,
)
from searx_mcp.urls.userinfo import without_userinfo

_TLS: Final = ("net::ERR_CERT_", "net::ERR_SSL_", "net::ERR_BAD_SSL")
_OTHERS: Final = (
    "net::ERR_ABORTED",
    "net::ERR_HTTP_RESPONSE_CODE_FAILURE",
    "net::ERR_INVALID_AUTH_CREDENTIALS",
    "net::ERR_TOO_MANY_REDIRECTS",
    "net::ERR_UNSAFE_PORT",
)


def not_reached(failure: Error, url: str) -> FetchError:
    """The error for a page that was not opened, although its host was reached.

    Args:
        failure: of the navigation.
        url: what was asked for.
    """
    said = failure.message
    if isinstance(failure, PlaywrightTimeoutError):
        message, code = "There was no answer in time.", ErrorCode.TIMEOUT
    elif any(name in said for name in _TLS):
        message, code = "The TLS handshake or the certificate failed.", ErrorCode.TLS_ERROR
    elif "net::ERR_" in said and not any(name in said for name in _OTHERS):
        message, code = "The connection failed or broke.", ErrorCode.CONNECTION_ERROR
    else:
        return _answered(said, url)
    return TransportError(message, code=code, url=url)


def _answered(said: str, url: str) -> FetchError:
    if "net::ERR_TOO_MANY_REDIRECTS" in said:
        return RedirectError(
            "The page redirects without end.", code=ErrorCode.TOO_MANY_REDIRECTS, url=url
        )
    if "net::ERR_UNSAFE_PORT" in said:  # the browser has a list of its own
        return PolicyError("The port may not be fetched.", code=ErrorCode.BLOCKED_PORT, url=url)
    if "net::ERR_INVALID_AUTH_CREDENTIALS" in said:
        return SiteError(
            "The site asks for a login.", code=ErrorCode.AUTHENTICATION_REQUIRED, url=url
        )
    if "net::ERR_HTTP_RESPONSE_CODE_FAILURE" in said:
        return SiteError(
            "The site answered with an error and without a page.",
            code=ErrorCode.HTTP_ERROR,
            url=url,
        )
    if "net::ERR_ABORTED" in said or "Download is starting" in said:
        return no_page(url)
    return broke_down(url)


def no_page(url: str) -> ContentError:
    """The error for an address that leads to something else than a page."""
    return ContentError(
        "The address leads to a file and not to a page.",
        code=ErrorCode.UNSUPPORTED_CONTENT_TYPE,
        url=url,
    )


def unreadable(url: str) -> ContentError:
    """The error for a page that was gone whenever it was read."""
    return ContentError(
        "The page goes on to other addresses all the time, or breaks down.",
        code=ErrorCode.EXTRACTION_FAILED,
        url=url,
    )


def broke_down(url: str) -> ContentError:
    """The error for a page that ended its browser, or that a browser cannot cope with."""
    return ContentError(
        "The browser broke down while it rendered the page.",
        code=ErrorCode.EXTRACTION_FAILED,
        url=url,
    )


def landed(text: str, url: URL) -> URL:
    """Read the address that a page has in the end.

    Args:
        text: as the browser gives it.
        url: where the page began.

    Raises:
        ContentError: it is no address of the web: scripts went on to an empty or made-up page.
    """
    try:
        final = URL(without_userinfo(text))
    except ValueError:
        final = URL()
    if final.scheme not in {"http", "https"} or not final.raw_host:
        raise ContentError(
            "The scripts of the page leave it for one that is not of the web.",
            code=ErrorCode.EXTRACTION_FAILED,
            url=str(url),
        )
    return final

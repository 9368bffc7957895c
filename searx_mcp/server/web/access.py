"""Authentication by token, tool permissions and quotas.

Logging in at the dashboard sets a signed cookie with the token's name and an expiry time, so that browsers never
store the token itself.
"""

import asyncio
import base64
import binascii
import hashlib
import hmac
import math
import re
import secrets
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from starlette.types import Scope
from typing_extensions import override

from searx_mcp.errors import ErrorCode
from searx_mcp.server.identity import EVERYBODY, Identity
from searx_mcp.server.web.policy import (
    COOKIE_PATHS,
    DASHBOARD_PATH,
    LOGIN_PATH,
    LOGIN_PATHS,
    MCP_PATH,
    SEARXNG_PATH,
    SEARXNG_PATHS,
    WRONG_ORIGIN,
    HttpRefusal,
    is_same_origin,
    is_searxng_search,
    key_of,
    message_of,
)
from searx_mcp.server.web.quotas import Quotas, SharedCounts, WrongTokens
from searx_mcp.server.web.shares import vouch_for
from searx_mcp.server.web.tokens_file import TokensFile, find
from searx_mcp.settings.server import HttpConfig
from searx_mcp.settings.tools import Tool
from searx_mcp.settings.values import Settings

_TOOLS: Final[Mapping[str, Tool]] = {
    SEARXNG_PATH: Tool.WEB_SEARCH,
    "/v1/search": Tool.WEB_SEARCH,
    "/v1/raw_search": Tool.WEB_SEARCH,
    "/v1/fetch": Tool.WEB_FETCH,
    "/v1/read": Tool.READ_PAGE,
    "/v1/answer": Tool.ANSWER,
    "/v1/corpus/search": Tool.SEARCH_CORPUS,
    **{f"/v1/tools/{tool}": tool for tool in Tool},
    **dict.fromkeys(
        (
            "/tavily/search",
            "/firecrawl/v1/search",
            "/firecrawl/v2/search",
            "/v2/search",
            "/external/search",
        ),
        Tool.WEB_SEARCH,
    ),
    **dict.fromkeys(
        (
            "/tavily/extract",
            "/firecrawl/v1/scrape",
            "/firecrawl/v2/scrape",
            "/v2/scrape",
            "/external/load",
        ),
        Tool.WEB_FETCH,
    ),
}
"""Tool whose permission and quota a route needs."""
_READER_PREFIX: Final = "/r/"
_CORPUS: Final = "/v1/corpus"
_BEARER: Final = re.compile(rb"(?i:bearer) +(\S{1,1000}) *")
_BASIC: Final = re.compile(rb"(?i:basic) +([A-Za-z0-9+/]{1,2000}={0,2}) *")
_KEY_HEADER: Final = b"x-api-key"
"""Carries LibreChat's key for a SearXNG instance."""
_REALM: Final = b'realm="searx-mcp"'


def tool_of(method: str, path: str) -> Tool | None:
    """Return the tool that a route stands for; `None` if it neither sends requests nor reads pages."""
    if path == DASHBOARD_PATH:
        return Tool.WEB_SEARCH if method == "POST" else None
    if path == _CORPUS or (path.startswith(f"{_CORPUS}/") and path not in _TOOLS):
        return Tool.CORPUS_STATUS if method == "GET" else Tool.INGEST
    return Tool.WEB_FETCH if path.startswith(_READER_PREFIX) else _TOOLS.get(path)


class Access:
    """Authenticates requests by their token and enforces quotas.

    Args:
        config: HTTP settings with one token, a tokens file, or neither.
        settings: settings of the Redis server that counts calls across processes, if there is one.
        clock: current time in Unix seconds.

    Raises:
        SettingsError: the tokens file is unusable.
    """

    def __init__(
        self,
        config: HttpConfig,
        settings: Settings | None = None,
        clock: Callable[[], float] = time.time,  # noqa: TID251 - the age of a login
    ) -> None:
        self._token = config.token.get_secret_value().encode()
        self._file = None
        if config.tokens_file:
            self._file = TokensFile(Path(config.tokens_file).expanduser())
        self._is_open = not config.wants_token
        self._takes_key = config.key_in_query
        # The hashes in a tokens file are not secret, so its logins use a random key and end with the process.
        self._secret = self._token or secrets.token_bytes(32)
        self._clock = clock
        self._shared = SharedCounts(settings)
        self._quotas = Quotas(self._shared)
        self._wrong_tokens = WrongTokens(self._shared)

    @override
    def __repr__(self) -> str:
        return "<Access>"

    async def admit(self, scope: Scope, headers: Mapping[bytes, bytes]) -> Identity | HttpRefusal:
        """Return the identity that sent a request, or the refusal if its token is missing, wrong or lacks rights."""
        # After a 401, clients probe /.well-known/ for OAuth; a 404 there tells them that there is none.
        path = scope["path"]
        is_public = (
            path in LOGIN_PATHS or path.startswith("/.well-known/") or is_searxng_search(scope)
        )
        if self._is_open or is_public:
            return EVERYBODY
        if path in COOKIE_PATHS and b"authorization" not in headers:
            return await self._identify_by_cookie(scope, headers)
        credentials = self._credentials(scope, headers)
        if credentials is None:
            return _unauthorized(scope, "A token is required: send Authorization: Bearer TOKEN.")
        user, token = credentials
        identity = await self._find_identity(token)
        if identity is None or (user is not None and identity.name not in {"", user}):
            return await self._refuse_token(scope)
        return _check_tool(scope, identity)

    @property
    def wants_token(self) -> bool:
        """Whether requests need a token and users must log in."""
        return not self._is_open

    async def log_in(self, scope: Scope, token: bytes) -> str | HttpRefusal:
        """Return the `Set-Cookie` header for a valid token, or the refusal."""
        identity = await self._find_identity(token)
        if identity is None:
            return await self._refuse_token(scope)
        origin = dict(scope["headers"]).get(b"origin", b"")  # TLS may end at a proxy
        is_secure = scope.get("scheme") == "https" or origin.startswith(b"https://")
        key = self._cookie_key(hashlib.sha256(token).digest())
        return login_cookie(identity.name, key, self._clock(), is_secure=is_secure)

    @staticmethod
    def log_out() -> str:
        """Return the `Set-Cookie` header that deletes the login."""
        return _set_cookie(b"", 0, is_secure=False)

    async def _identify_by_cookie(
        self, scope: Scope, headers: Mapping[bytes, bytes]
    ) -> Identity | HttpRefusal:
        """Return the identity behind a login cookie; checks the origin, as pages on other ports send the cookie too."""
        login = read_login(headers.get(b"cookie", b""), self._clock())
        if scope["method"] != "GET" and not is_same_origin(headers):
            return WRONG_ORIGIN
        if login is None:
            return _LOGIN_REQUIRED
        for digest, identity in await self._digests():
            if login.name == identity.name and login.is_signed_by(self._cookie_key(digest)):
                return _check_tool(scope, identity)
        return _LOGIN_REQUIRED

    async def _digests(self) -> list[tuple[bytes, Identity]]:
        if self._file is not None:
            return [(known.digest, known.identity) for known in await self._file.current()]
        return [(hashlib.sha256(self._token).digest(), EVERYBODY)]

    def _cookie_key(self, digest: bytes) -> bytes:
        """Derive the key that signs the cookies of one token, so that removing the token ends its logins."""
        return hmac.new(self._secret, b"dashboard" + digest, hashlib.sha256).digest()

    async def charge(self, scope: Scope, identity: Identity) -> HttpRefusal | None:
        """Count a request if it is a tool call; return the refusal if the quota is used up."""
        if (identity.per_minute or identity.per_day) is None or not _is_call(scope):
            return None
        wait = await self._quotas.charge(
            identity.name,
            per_minute=identity.per_minute,
            per_day=identity.per_day,
            now=asyncio.get_running_loop().time(),
        )
        return _too_many(_limits_of(identity), wait) if wait else None

    async def aclose(self) -> None:
        """Close the connection to the shared counters."""
        await self._shared.aclose()

    def _credentials(
        self, scope: Scope, headers: Mapping[bytes, bytes]
    ) -> tuple[str | None, bytes] | None:
        """Return the user name, if the client sent one, and the token."""
        authorization = headers.get(b"authorization", b"")
        if found := _BEARER.fullmatch(authorization):
            return None, found[1]
        if scope["path"] not in SEARXNG_PATHS:
            return None
        if found := _BASIC.fullmatch(authorization):
            return _user_and_token(found[1])
        key = headers.get(_KEY_HEADER, b"") or (key_of(scope) if self._takes_key else b"")
        return (None, key) if key else None

    async def _find_identity(self, token: bytes) -> Identity | None:
        if self._file is not None:
            return find(await self._file.current(), token)
        return EVERYBODY if hmac.compare_digest(token, self._token) else None

    async def _refuse_token(self, scope: Scope) -> HttpRefusal:
        address = (scope.get("client") or ("",))[0]
        wait = await self._wrong_tokens.charge(address, asyncio.get_running_loop().time())
        if not wait:
            return _unauthorized(scope, "The token is not valid.", b', error="invalid_token"')
        # Closing makes every guess cost a connection.
        return _too_many(
            "Too many wrong tokens from this address", wait, ((b"connection", b"close"),)
        )


def _user_and_token(credentials: bytes) -> tuple[str, bytes] | None:
    try:
        user, _, token = base64.b64decode(credentials, validate=True).partition(b":")
    except binascii.Error:
        return None
    return (user.decode("utf-8", "replace"), token) if token else None


def _unauthorized(scope: Scope, message: str, reason: bytes = b"") -> HttpRefusal:
    challenges = [(b"www-authenticate", b"Bearer " + _REALM + reason)]
    if scope["path"] in SEARXNG_PATHS:
        challenges.append((b"www-authenticate", b"Basic " + _REALM + b', charset="UTF-8"'))
    return HttpRefusal(401, ErrorCode.UNAUTHORIZED, message, tuple(challenges))


_LOGIN_REQUIRED: Final = HttpRefusal(
    303,
    ErrorCode.UNAUTHORIZED,
    "A token is required, as Authorization: Bearer TOKEN, or a login at the dashboard.",
    ((b"location", LOGIN_PATH.encode()), (b"cache-control", b"no-store")),
)


def _check_tool(scope: Scope, identity: Identity) -> Identity | HttpRefusal:
    vouch_for(scope)
    tool = tool_of(scope["method"], scope["path"])
    return identity if tool is None or identity.may(tool) else _forbidden(tool)


def _forbidden(tool: Tool) -> HttpRefusal:
    return HttpRefusal(
        403,
        ErrorCode.UNAUTHORIZED,
        f"The token does not allow {tool}: http.tokens_file sets its tools.",
    )


def _too_many(
    reason: str, wait: float, headers: tuple[tuple[bytes, bytes], ...] = ()
) -> HttpRefusal:
    seconds = math.ceil(wait)
    return HttpRefusal(
        429,
        ErrorCode.RATE_LIMITED,
        f"{reason}: try again in {seconds:,} seconds.",
        headers,
        retry_after=seconds,
    )


def _limits_of(identity: Identity) -> str:
    limits = ((identity.per_minute, "minute"), (identity.per_day, "day"))
    quota = " and ".join(f"{limit:,} calls a {period}" for limit, period in limits if limit)
    return f"The token has used up its quota of {quota}"


def _is_call(scope: Scope) -> bool:
    if scope["path"] != MCP_PATH:
        return tool_of(scope["method"], scope["path"]) is not None
    return message_of(scope).get("method") == "tools/call"


_COOKIE_NAME: Final = b"searx-mcp"
_LOGIN_SECONDS: Final = 43_200
"""Lifetime of a login: a working day and some."""
_COOKIE_VALUE: Final = re.compile(rb"([a-z0-9_.-]{0,32})\.([0-9]{1,12})\.([0-9a-f]{64})")
_COOKIE: Final = re.compile(rb"(?:\A|; ?)searx-mcp=([^; ]{1,200})(?=;|\Z)")


def login_cookie(name: str, key: bytes, now: float, *, is_secure: bool) -> str:
    """Return the `Set-Cookie` header that stores a login.

    Args:
        name: name of the token; empty if all users share one.
        key: signing key, specific to the token and this server.
        now: Unix seconds.
        is_secure: whether the browser reached the server through TLS.
    """
    claim = f"{name}.{int(now) + _LOGIN_SECONDS}".encode()
    return _set_cookie(claim + b"." + _signature(key, claim), _LOGIN_SECONDS, is_secure=is_secure)


def read_login(header: bytes, now: float) -> "_Login | None":
    """Parse the login cookie of a request; `None` if it is absent, malformed or expired.

    Args:
        header: the `Cookie` header.
        now: Unix seconds.
    """
    cookie = _COOKIE.search(header)
    found = _COOKIE_VALUE.fullmatch(cookie[1]) if cookie else None
    if found is None or int(found[2]) < now:
        return None
    return _Login(found[1].decode(), found[1] + b"." + found[2], found[3])


@dataclass(frozen=True, slots=True, repr=False)  # it holds a secret
class _Login:
    """A login as the browser sent it; not yet verified.

    Attributes:
        name: name of the token.
        claim: signed part of the cookie.
        signature: signature in the cookie.
    """

    name: str
    claim: bytes
    signature: bytes

    def is_signed_by(self, key: bytes) -> bool:
        """Tell whether this key made the signature."""
        return hmac.compare_digest(_signature(key, self.claim), self.signature)


def _signature(key: bytes, claim: bytes) -> bytes:
    return hmac.new(key, claim, hashlib.sha256).hexdigest().encode()


def _set_cookie(value: bytes, seconds: int, *, is_secure: bool) -> str:
    secure = "; Secure" if is_secure else ""
    return f"{_COOKIE_NAME.decode()}={value.decode()}; Path=/; Max-Age={seconds}; HttpOnly; SameSite=Strict{secure}"

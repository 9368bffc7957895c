"""Access to an own instance: its address and credentials."""

import re
from base64 import b64encode
from typing import Self
from urllib.parse import urlsplit

from pydantic import ConfigDict, SecretStr, field_validator, model_validator

from searx_mcp.models.base import Frozen

_FORBIDDEN_IN_URL = re.compile(r"[\s\x00-\x20\x7f-\x9f\\?#]")


def base_url(text: str) -> str:
    """Normalise the address of an instance: no default port, and `/` at the end.

    A path prefix is kept. Host names are neither resolved nor encoded.

    Raises:
        ValueError: with a sentence for a person, which never shows a user name or password.
    """
    authority = re.split(r"[/\\?#]", text.partition("://")[2] or text, maxsplit=1)[0]
    if "@" in authority:
        raise ValueError("an address must not contain a user name or password")
    wanted = "an address with http:// or https:// in front"
    if "://" in text:
        wanted = "an http or https address such as https://search.example.org/, without ? and #"
    refusal = f"{'this' if '@' in text else repr(text[:60])} is not {wanted}"
    try:
        parts = urlsplit(text)
        host, port = parts.hostname, parts.port
    except ValueError as error:
        raise ValueError(refusal) from error
    if parts.scheme not in {"http", "https"} or not host or _FORBIDDEN_IN_URL.search(text):
        raise ValueError(refusal)
    authority = f"[{host}]" if ":" in host else host
    if port is not None and port != {"http": 80, "https": 443}[parts.scheme]:
        authority = f"{authority}:{port}"
    return f"{parts.scheme}://{authority}{parts.path.rstrip('/')}/"


# Forbidden by RFC 7617, section 2; C1 controls; and lone surrogates, which cannot be encoded.
_NOT_IN_BASIC = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
# Wider than RFC 6750 2.1, which has no "|" and ":": servers issue such tokens.
_TOKEN = re.compile(r"[\x21-\x7e]+")


class Credentials(Frozen):
    """A user name and password (RFC 7617), or a token (RFC 6750), for one own instance.

    Neither its text nor a dump of it shows them.

    Attributes:
        url: the instance's base URL; ends in `/`.
        username: not empty and without a colon.
        password: may be empty.
        token: visible ASCII characters.
    """

    # Applies if this is validated alone; `Settings` does the same for itself.
    model_config = ConfigDict(hide_input_in_errors=True)

    url: str
    username: SecretStr | None = None
    password: SecretStr | None = None
    token: SecretStr | None = None

    @field_validator("url")
    @classmethod
    def _normalise(cls, url: str) -> str:
        try:
            return base_url(url)
        except ValueError:
            # Does not show the value, which may be a secret in the wrong place.
            raise ValueError(
                "its url must be an http or https address without user name, ? and #"
            ) from None

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.token is not None:
            if self.username is not None or self.password is not None:
                raise ValueError("set either username and password, or token")
            if not _TOKEN.fullmatch(self.token.get_secret_value()):
                raise ValueError("its token must be visible ASCII characters without spaces")
            return self
        if self.username is None or self.password is None:
            raise ValueError("set both username and password, or token")
        username, password = self._basic()
        if not username or ":" in username:
            raise ValueError("its username must not be empty or contain a colon")
        if _NOT_IN_BASIC.search(username + password):
            raise ValueError("its username and password must not contain control characters")
        return self

    @property
    def authorization(self) -> str:
        """The value of the `Authorization` header: a secret in the clear."""
        if self.token is not None:
            return f"Bearer {self.token.get_secret_value()}"
        return f"Basic {b64encode(':'.join(self._basic()).encode()).decode('ascii')}"

    def _basic(self) -> tuple[str, str]:
        username, password = (
            secret.get_secret_value() if secret else "" for secret in (self.username, self.password)
        )
        return username, password

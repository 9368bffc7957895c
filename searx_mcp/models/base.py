"""The common shape of every public value."""

import re
from typing import Annotated, Any, Final
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, SecretStr
from pydantic_core import PydanticCustomError


class Frozen(BaseModel):
    """An immutable value with a closed set of fields."""

    # Built on first use: a program that imports the package uses few of the models.
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


_SIZE = re.compile(r"(\d{1,12})\s*(B|KB|KIB|MB|MIB)?", re.IGNORECASE)
_UNITS = {"": 1, "B": 1, "KB": 1 << 10, "KIB": 1 << 10, "MB": 1 << 20, "MIB": 1 << 20}


def parse_size(value: Any) -> Any:  # noqa: ANN401 - pydantic hands over whatever was given
    """Parse text such as `2MB`; anything else is left to the field's own check.

    Raises:
        ValueError: the text is not a size.
    """
    if not isinstance(value, str):
        return value
    match = _SIZE.fullmatch(value.strip())
    if match is None:
        raise ValueError("must be a number of bytes, or a size such as 512KB or 2MB")
    return int(match[1]) * _UNITS[(match[2] or "").upper()]


ByteCount = Annotated[int, BeforeValidator(parse_size)]
"""Bytes; also accepts text such as `2MB`, where 1 MB is 1,048,576 bytes as in the specification."""

WANTED: Final = "wanted"
"""Schema key for the description of a text's pattern."""


def matching(pattern: str, wanted: str) -> Any:  # noqa: ANN401 - as pydantic's own `Field`
    """Restrict a text to a pattern, and describe in words which texts match.

    Args:
        pattern: a regular expression; never shown to a user.
        wanted: completes "'value' is not ...".
    """
    return Field(pattern=pattern, json_schema_extra={WANTED: wanted})


_KEY: Final = re.compile(r"[\x21-\x7e]{0,500}")
_OF_KEY: Final = "at most 500 visible ASCII characters without spaces"


def _check_key(key: SecretStr) -> SecretStr:
    if not _KEY.fullmatch(key.get_secret_value()):
        raise ValueError(f"must be {_OF_KEY}")
    return key


Key = Annotated[SecretStr, AfterValidator(_check_key), Field(json_schema_extra={WANTED: _OF_KEY})]
"""A key or token that is valid in headers and addresses, or empty."""


def refusal(key: str, reason: str) -> PydanticCustomError:
    """Make the error of a check of the settings; it never shows the value, which may contain a secret.

    Args:
        key: dotted name of the setting.
        reason: a sentence for a person.
    """
    return PydanticCustomError("setting", "{key}: {reason}", {"key": key, "reason": reason})


def _check_authority(address: str) -> str:
    """Refuse an address with an impossible port or IP address.

    Raises:
        ValueError: it has one.
    """
    if address and urlsplit(address).port == 0:
        raise ValueError("no server has port 0")
    return address


OF_SERVER: Final = AfterValidator(_check_authority)
"""Completes the pattern of an http or https address."""
Address = Annotated[
    str,
    matching(
        r"^(https?://[^\s/?#@]+(/[^\s?#]*)?)?$",
        "an http or https address without user name, ? and #, or empty",
    ),
    OF_SERVER,
]
"""An http or https address without a query, or nothing."""

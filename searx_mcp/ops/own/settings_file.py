"""The settings file of an instance of one's own, as SearXNG reads it."""

import re
from typing import Final

_SECRET = re.compile(r"[0-9a-f]{64}")

_TEXT: Final = """\
# SearXNG for searx-mcp on this machine alone. Change what you like, then restart the container.
# What is not here has SearXNG's default: https://docs.searxng.org/admin/settings/
use_default_settings: true

server:
  # Private: signs what SearXNG hands to browsers.
  secret_key: "{secret}"
  # The limiter keeps programs out; nobody but this machine gets here.
  limiter: false
  public_instance: false
  image_proxy: false

search:
  # Programs read json; without html SearXNG's own pages do not work.
  formats:
    - html
    - json
"""


def settings_yaml(secret: str) -> str:
    """Write the settings: JSON on, limiter off, the rest as SearXNG has it.

    Where it listens is not in here: the official image takes that from its environment.

    Args:
        secret: 64 lower-case hexadecimal digits, such as `secrets.token_hex(32)` makes.

    Raises:
        ValueError: `secret` is something else.
    """
    if not _SECRET.fullmatch(secret):
        raise ValueError("a secret has 64 lower-case hexadecimal digits")
    return _TEXT.format(secret=secret)


def without_secrets(text: str) -> str:
    """Mask what looks like a secret of ours, in a log that is about to be shown."""
    return _SECRET.sub("…", text)

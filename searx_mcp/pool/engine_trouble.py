"""What keeps an engine inside an instance from answering, by what the instance says of it."""

from enum import Enum, auto
from typing import Final


class Trouble(Enum):
    """What can be done about an engine that fails."""

    REFUSES = auto()
    """The site behind it keeps the instance out: another engine must do."""
    SLOW = auto()
    """It may answer with more time."""
    UNREACHED = auto()
    """The instance does not get through to the site: its own network is to be looked at."""
    OTHER = auto()
    """As a rule its code and the site have parted ways: an update of SearXNG may help."""


_REASONS: Final = (
    ("captcha", "CAPTCHA", Trouble.REFUSES),
    ("too many requests", "too many requests", Trouble.REFUSES),
    ("toomanyrequests", "too many requests", Trouble.REFUSES),
    ("access denied", "access denied", Trouble.REFUSES),
    ("accessdenied", "access denied", Trouble.REFUSES),
    ("timeout", "timeout", Trouble.SLOW),
    ("timed out", "timeout", Trouble.SLOW),
    ("connecterror", "no connection", Trouble.UNREACHED),
    ("connection error", "no connection", Trouble.UNREACHED),
    ("network error", "no connection", Trouble.UNREACHED),
    ("proxyerror", "no connection", Trouble.UNREACHED),
    ("proxy error", "no connection", Trouble.UNREACHED),
)
"""Of SearXNG's English messages and exceptions, in lower case; what a person calls it; what it means."""


def trouble_of(text: str) -> tuple[str, Trouble]:
    """Tell what an instance says of an engine that failed.

    Args:
        text: a reason for people, or the name and message of an exception. Sites write into it.

    Returns:
        Words of ours, empty for what is not known, and what can be done.
    """
    text = text.casefold()
    for word, reason, trouble in _REASONS:
        if word in text:
            return reason, trouble
    return "", Trouble.OTHER

"""The call that a model may make next, word for word."""

import json


def next_call(**arguments: str | int) -> str:
    """Write a call of `web_fetch` with its arguments as JSON."""
    return f"web_fetch {json.dumps(arguments, ensure_ascii=False)}"

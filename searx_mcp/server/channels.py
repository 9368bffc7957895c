"""Which of the two channels of a tool result a client gets.

A result may carry text and structured content. Some clients show the model only the one, some only
the other, some both, so each is complete by itself. Where a client is known to drop the text or to
forward both, structured content is left out: the text is the better reading for a model, and
nobody pays twice. Reports behind the list: `docs/decisions/channels.md`.
"""

from typing import Any, Literal

from pydantic import BaseModel

_TEXT_ONLY = frozenset(
    {
        "claude-code",  # drops the text as soon as structured content is there (2.1.280)
        "cursor-vscode",  # shows structured content in place of the text
    }
)


def wants_structured(setting: Literal["auto", "on", "off"], client_name: str | None) -> bool:
    """Whether to attach structured content.

    Args:
        setting: `server.structured_output`.
        client_name: the name the client gave of itself, if it did.
    """
    if setting == "auto":
        return (client_name or "").strip().lower() not in _TEXT_ONLY
    return setting == "on"


def output_schema(model: type[BaseModel]) -> dict[str, Any]:
    """The schema of structured content: the model's, with nothing required and nothing closed.

    What is empty is left out of a result, and a result that was cut says so in fields of its own;
    clients refuse results that do not match their schema to the letter.
    """
    opened: dict[str, Any] = _open(model.model_json_schema())
    return opened


def _open(schema: Any) -> Any:  # noqa: ANN401 - any part of a JSON schema
    if isinstance(schema, list):
        return [_open(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    strict = ("required", "additionalProperties") if schema.get("type") == "object" else ()
    return {name: _open(part) for name, part in schema.items() if name not in strict}

"""Schemas of structured content, in the few keywords that every known client reads."""

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel


def output_schema(model: type[BaseModel]) -> dict[str, Any]:
    """Describe structured content: the model's fields and types, with nothing required and nothing closed.

    What is empty is left out of a result, and a result that was cut says so in fields of its own;
    clients refuse results that do not match their schema to the letter. There are no references, unions
    and nulls, only non-empty text in an `enum`, and no descriptions, which are for developers.
    """
    whole = model.model_json_schema()
    return _plain(whole, whole.get("$defs", {}))


def _plain(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> dict[str, Any]:
    if reference := schema.get("$ref"):
        return _plain(definitions[reference.rpartition("/")[2]], definitions)
    if "anyOf" in schema:
        kinds = [each for each in schema["anyOf"] if each.get("type") != "null"]
        return _plain(kinds[0], definitions) if len(kinds) == 1 else {}
    plain: dict[str, Any] = {"type": schema["type"]} if "type" in schema else {}
    members = schema.get("enum", [""])
    if all(isinstance(member, str) and member for member in members):
        plain["enum"] = members
    if "properties" in schema:
        plain["properties"] = {
            name: _plain(rules, definitions) for name, rules in schema["properties"].items()
        }
    if plain.get("type") == "array":
        first: Mapping[str, Any] = next(iter(schema.get("prefixItems", ())), {})
        plain["items"] = _plain(schema.get("items", first), definitions)
    return plain

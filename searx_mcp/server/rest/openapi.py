"""The OpenAPI 3.1 document, generated from the table of operations and the models, so that it matches the code."""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from http import HTTPStatus
from typing import Any, Final, Literal

from pydantic import BaseModel, ConfigDict
from pydantic.json_schema import models_json_schema

from searx_mcp import __version__
from searx_mcp.evidence.requests import ReadRequest
from searx_mcp.models.argument import arguments_of
from searx_mcp.models.base import Frozen
from searx_mcp.models.coercion import BOOLEANS
from searx_mcp.models.fetch_request import FetchRequest
from searx_mcp.models.request import SAFE_SEARCH
from searx_mcp.render.error_body import ErrorBody
from searx_mcp.server.rest.foreign import Foreign
from searx_mcp.server.rest.operation import Body, Call, Operation, refuse_arguments
from searx_mcp.server.rest.tools import WebFetchBody
from searx_mcp.server.web.policy import HEALTH_PATH, READY_PATH, SEARXNG_PATHS

Json = dict[str, Any]

_REFUSAL_STATUSES: Final = (400, 401, 403, 408, 413, 415, 421, 429, 503)
"""Statuses of refusals by the guard, and by the endpoint for arguments that it cannot parse."""
_JSON: Final = "application/json"
_REFERENCE: Final = "#/components/schemas/{model}"
_DESCRIPTION: Final = (
    "Arguments also accept further spellings, such as numbers as text; unknown arguments are an error."
    " Empty fields of an answer are left out unless the query has whole=true. A client may send"
    " X-Request-Id."
)
_WHOLE: Final = {
    "name": "whole",
    "in": "query",
    "description": "Return every field, for a client that renders the answer itself.",
    "schema": {"type": "boolean", "default": False},
}
_REQUEST_ID: Final = {
    "X-Request-Id": {
        "description": "ID of the request: the client's own, or a new one.",
        "schema": {"type": "string"},
    }
}
_RETRY_AFTER: Final = {
    "Retry-After": {
        "description": "Seconds after which the same call may succeed, if known.",
        "schema": {"type": "integer"},
    }
}
_ATTRIBUTE: Final = re.compile(r"^    (\w+(?:,\s+\w+)*): ", re.MULTILINE)
"""Start of an entry under `Attributes:`, with one or more names."""
_NOT_ALPHANUMERIC: Final = re.compile("[^a-z0-9]")
_BY_MEDIA_TYPE: Final = frozenset({"accept"})
"""Headers that OpenAPI describes as media types instead of parameters."""
_HAVE_RETRY_AFTER: Final = {429, 503}
_ANNOTATIONS: Final = ("title", "description", "default")
"""Keywords of a schema that hold whatever the type of the value."""
_FURTHER_SPELLINGS: Final[Json] = {
    "safe_search": {"enum": [False, True, *SAFE_SEARCH]},
    "language": {"type": "string", "pattern": "^[A-Za-z]{2,3}([-_][A-Za-z]{2})?$"},
}
"""Spellings that are accepted besides those of the model."""
_EXAMPLES: Final[Json] = {"allowed_domains": ["python.org"], "blocked_domains": ["example.com"]}
"""Distinct examples of two lists that must not share an entry, which a schema cannot express."""


class OpenApi(BaseModel):
    """An OpenAPI document; the standard defines its further fields."""

    model_config = ConfigDict(frozen=True, extra="allow")

    openapi: str
    info: dict[str, Any]
    paths: dict[str, Any]


async def openapi(call: Call) -> Body:
    """Describe the routes that the caller may use."""
    refuse_arguments(call)
    return lambda: document(tuple(call.allowed))


@lru_cache(maxsize=8)
def document(operations: tuple[Operation, ...]) -> Json:
    """Generate the document of these operations.

    Args:
        operations: operations in the order of the document; those with the same path differ in method.
    """
    requests = _distinct([each.request for each in operations if each.request is not None])
    answers = _distinct([model for each in operations for model in _answers(each)])
    kinds: list[tuple[type[BaseModel], Literal["validation", "serialization"]]] = [
        *((model, "validation") for model in requests),
        *((model, "serialization") for model in answers),
    ]
    references, found = models_json_schema(kinds, ref_template=_REFERENCE)
    schemas: Json = found["$defs"]
    in_query = {each.request for each in operations if each.method == "GET"}
    in_headers = {each.request for each in operations if each.read_arguments is not None}
    for model in requests:
        schema = schemas[_name(references[model, "validation"])]
        _keep_arguments(model, schema)
        if model not in in_query and not issubclass(model, Foreign):
            _add_spellings(schema)
        if model in in_headers:
            _remove_null(schema)
        if model in {FetchRequest, WebFetchBody}:
            _require_one(schema, "url", "cursor")
        if model is ReadRequest:
            _require_one(schema, "query", "queries")
    for name in _reachable([references[model, "serialization"] for model in answers], schemas):
        # Responses omit empty fields, and newer versions may add fields.
        schemas[name].pop("required", None)
        schemas[name].pop("additionalProperties", None)
    for schema in schemas.values():
        _describe_fields(schema)
    refs = {model: reference for (model, _), reference in references.items()}
    paths: Json = {}
    for each in operations:
        paths.setdefault(each.path, {})[each.method.lower()] = _operation(each, refs, schemas)
    paths |= {
        HEALTH_PATH: {"get": _health_check("health", "Check that the process responds.")},
        READY_PATH: {"get": _health_check("ready", "Check that there is an instance to ask.", 503)},
    }
    return {
        "openapi": "3.1.0",
        "info": {"title": "searx-mcp", "version": __version__, "description": _DESCRIPTION},
        "servers": [{"url": "/"}],
        "paths": paths,
        "components": {
            "schemas": schemas,
            "securitySchemes": {
                "bearer": {"type": "http", "scheme": "bearer"},
                "basic": {"type": "http", "scheme": "basic"},
            },
        },
    }


def _operation(operation: Operation, refs: Mapping[Any, Json], schemas: Json) -> Json:
    described: Json = {
        "operationId": operation.name,
        "summary": operation.summary,
        "responses": _responses(operation, refs),
        "security": [{"bearer": []}, *_basic(operation), {}],
    }
    parameters = [_WHOLE] if operation.has_whole else []
    if operation.request is not None:
        reference = refs[operation.request]
        if operation.method == "GET":
            parameters = [*_parameters(operation, schemas[_name(reference)]), *parameters]
        else:
            kind = "application/x-www-form-urlencoded" if operation.takes_form else _JSON
            described["requestBody"] = {
                # A form may be empty: its parameters may be in the query.
                "required": not operation.takes_form,
                "content": {kind: {"schema": reference}},
            }
    return described | ({"parameters": parameters} if parameters else {})


def _basic(operation: Operation) -> list[Json]:
    return [{"basic": []}] if operation.path in SEARXNG_PATHS else []


def _responses(operation: Operation, refs: Mapping[Any, Json]) -> Json:
    body = [refs[model] for model in operation.responses]
    content: Json = {
        kind: {"schema": _any_of(body) if kind.endswith("json") else {"type": "string"}}
        for kind in operation.media_types
    }
    if operation.streams:
        content["text/event-stream"] = {"schema": {"type": "string"}}
    responses: Json = {
        "200": {"description": "The answer.", "headers": _REQUEST_ID, "content": content}
    }
    for status in sorted({*operation.statuses, *_REFUSAL_STATUSES}):
        models = [operation.error] if status in operation.statuses else []
        if status in _REFUSAL_STATUSES:
            models.append(ErrorBody)
        headers = _REQUEST_ID | (_RETRY_AFTER if status in _HAVE_RETRY_AFTER else {})
        responses[str(status)] = {
            "description": _phrase(status),
            "headers": headers,
            "content": {_JSON: {"schema": _any_of([refs[each] for each in _distinct(models)])}},
        }
    return responses


def _health_check(name: str, summary: str, *others: int) -> Json:
    """Describe a health check."""
    body = {"content": {_JSON: {"schema": {"type": "object"}}}}
    return {
        "operationId": name,
        "summary": summary,
        "security": [],
        "responses": {
            str(status): {"description": _phrase(status), **body} for status in (200, *others)
        },
    }


def _phrase(status: int) -> str:
    return f"{HTTPStatus(status).phrase}."


def _parameters(operation: Operation, schema: Json) -> list[Json]:
    required = schema.get("required", ())
    return [
        {
            "name": name,
            "in": _location(operation, name),
            "description": rules["description"],
            "required": name in required,
            "schema": rules,
        }
        for name, rules in schema["properties"].items()
        if name not in _BY_MEDIA_TYPE
    ]


def _location(operation: Operation, name: str) -> str:
    """Return where a request carries a parameter."""
    if f"{{{name}}}" in operation.path:
        return "path"
    return "query" if operation.read_arguments is None else "header"


def _keep_arguments(model: type[BaseModel], schema: Json) -> None:
    """Remove fields that callers may not set, and describe the others like the CLI."""
    declared = arguments_of(model) if issubclass(model, Frozen) else {}
    if not declared:
        return
    schema["properties"] = {
        name: {**rules, "description": declared[name].help}
        for name, rules in schema["properties"].items()
        if name in declared and not declared[name].argument.by_person
    }
    for rules in schema["properties"].values():
        if rules.get("default") in (None, "", []):
            # This default means that the argument is absent; sent as a value, it may be refused.
            rules.pop("default", None)


def _require_one(schema: Json, *names: str) -> None:
    """Require at least one of these arguments, and not an empty one."""
    given: Json = {"not": {"enum": [None, "", []]}}
    schema["anyOf"] = [{"required": [name], "properties": {name: given}} for name in names]


def _remove_null(schema: Json) -> None:
    """Remove null, which means that a header is absent."""
    for name, rules in schema["properties"].items():
        kinds = [kind for kind in rules.pop("anyOf", ()) if kind != {"type": "null"}]
        schema["properties"][name] = rules | (kinds[0] if len(kinds) == 1 else {})
        if rules.get("default", "") is None:
            del schema["properties"][name]["default"]


def _add_spellings(schema: Json) -> None:
    """Add the spellings that `searx_mcp.arguments` accepts.

    Null and an empty string mean that an argument is absent, a single string may replace a list of them, and words a
    boolean. Numbers as strings are not described, since no pattern could express their bounds.
    """
    required = schema.get("required", ())
    for name, rules in schema["properties"].items():
        annotations = {key: rules.pop(key) for key in _ANNOTATIONS if key in rules}
        kinds = [*rules.pop("anyOf", ()), *([{**rules}] if rules else [])]
        types = [kind.get("type") for kind in kinds]
        for entries in [kind for kind in kinds if kind.get("type") == "array"]:
            kinds.append({**entries["items"], "minLength": 1})
            if "pattern" in entries["items"]:  # names of engines; empty ones are ignored
                entries["items"] = {"anyOf": [entries["items"], {"const": ""}]}
        if "boolean" in types:
            kinds.append({"enum": [0, 1, *BOOLEANS]})
        if name in _FURTHER_SPELLINGS:
            kinds.append(_FURTHER_SPELLINGS[name])
        if name not in required:
            kinds = [kind for kind in kinds if kind != {"type": "null"}]
            kinds.append({"enum": [None, ""]})
        if name in _EXAMPLES:
            annotations["examples"] = [_EXAMPLES[name]]
        schema["properties"][name] = annotations | (
            kinds[0] if len(kinds) == 1 else {"anyOf": kinds}
        )


def _describe_fields(schema: Json) -> None:
    """Move the descriptions of fields from the docstring of their model to the fields."""
    summary, _, attributes = schema.get("description", "").partition("\n\nAttributes:\n")
    if not attributes:
        return
    schema["description"] = summary
    fields = {_fold(name): rules for name, rules in schema["properties"].items()}
    _, *parts = _ATTRIBUTE.split(attributes)
    for names, text in zip(parts[::2], parts[1::2], strict=True):
        description = " ".join(text.split())
        for name in re.split(r",\s+", names):
            rules = fields.get(_fold(name), fields.get(_fold(f"x{name}"), {}))
            rules.setdefault("description", description[0].upper() + description[1:])


def _fold(name: str) -> str:
    """Return the form of a name that a field, its alias and its header share."""
    return _NOT_ALPHANUMERIC.sub("", name.lower())


def _answers(operation: Operation) -> list[type[BaseModel]]:
    return [*operation.responses, operation.error, ErrorBody]


def _any_of(schemas: Sequence[Json]) -> Json:
    return {"anyOf": [*schemas]} if len(schemas) > 1 else schemas[0]


def _distinct(models: Sequence[type[BaseModel]]) -> list[type[BaseModel]]:
    return list(dict.fromkeys(models))


def _name(reference: Json) -> str:
    return str(reference["$ref"]).rpartition("/")[2]


def _reachable(roots: Sequence[Json], schemas: Json) -> set[str]:
    """Return the names of all schemas that these references lead to."""
    found: set[str] = set()
    todo = [*map(_name, roots)]
    while todo:
        if (name := todo.pop()) not in found:
            found.add(name)
            todo.extend(_references_in(schemas[name]))
    return found


def _references_in(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        if isinstance(value.get("$ref"), str):
            yield _name(value)
        for each in value.values():
            yield from _references_in(each)
    elif isinstance(value, list):
        for each in value:
            yield from _references_in(each)

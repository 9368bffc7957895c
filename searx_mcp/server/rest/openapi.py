"""The OpenAPI 3.1 document: made of the table of operations and of the models, so that it says what the code does."""

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from http import HTTPStatus
from types import UnionType
from typing import Any, Final, Literal, get_args

from pydantic import BaseModel, ConfigDict
from pydantic.json_schema import models_json_schema

from searx_mcp import __version__
from searx_mcp.errors import InvalidArgumentError
from searx_mcp.models.argument import arguments_of
from searx_mcp.models.base import Frozen
from searx_mcp.models.spelling import shown
from searx_mcp.server.rest.errors import ErrorBody
from searx_mcp.server.rest.operation import Body, Call, Operation
from searx_mcp.server.web.policy import HEALTH_PATH, READY_PATH, SEARXNG_PATH

Json = dict[str, Any]

_REFUSED: Final = (400, 401, 403, 408, 413, 415, 421, 429, 503)
"""What the guard answers, and the endpoint to arguments that it cannot read."""
_JSON: Final = "application/json"
_REFERENCE: Final = "#/components/schemas/{model}"
_DESCRIPTION: Final = (
    "Arguments have further spellings, and unknown ones are an error. Fields of an answer that are"
    " empty are left out, unless the query has whole=true. A client may send X-Request-Id."
)
_WHOLE: Final = {
    "name": "whole",
    "in": "query",
    "description": "Every field, for a client that shows the answer itself.",
    "schema": {"type": "boolean", "default": False},
}
_REQUEST_ID: Final = {
    "X-Request-Id": {"description": "Of the request, or a new one.", "schema": {"type": "string"}}
}
_RETRY_AFTER: Final = {
    "Retry-After": {
        "description": "Seconds after which the same call may succeed, where that is known.",
        "schema": {"type": "integer"},
    }
}
_WAITS: Final = {429, 503}


class OpenApi(BaseModel):
    """An OpenAPI document; the standard says what else it has."""

    model_config = ConfigDict(frozen=True, extra="allow")

    openapi: str
    info: dict[str, Any]
    paths: dict[str, Any]


async def openapi(call: Call) -> Body:
    """Describe the routes that the caller may use."""
    for name in call.arguments:
        raise InvalidArgumentError(shown(name)[1:-1], "is unknown; this route takes no arguments")
    return lambda: document(tuple(call.allowed))


@lru_cache(maxsize=8)
def document(operations: tuple[Operation, ...]) -> Json:
    """Describe operations.

    Args:
        operations: in their order; two of one path differ in their method.
    """
    requests = _distinct([each.request for each in operations if each.request is not None])
    answers = _distinct([model for each in operations for model in _answers(each)])
    kinds: list[tuple[type[BaseModel], Literal["validation", "serialization"]]] = [
        *((model, "validation") for model in requests),
        *((model, "serialization") for model in answers),
    ]
    references, found = models_json_schema(kinds, ref_template=_REFERENCE)
    schemas: Json = found["$defs"]
    for model in requests:
        _keep_arguments(model, schemas[_name(references[model, "validation"])])
    for name in _reachable([references[model, "serialization"] for model in answers], schemas):
        # What is empty is left out, and a newer version may have more.
        schemas[name].pop("required", None)
        schemas[name].pop("additionalProperties", None)
    refs = {model: reference for (model, _), reference in references.items()}
    paths: Json = {}
    for each in operations:
        paths.setdefault(each.path, {})[each.method.lower()] = _operation(each, refs, schemas)
    paths |= {HEALTH_PATH: {"get": _watched("health")}, READY_PATH: {"get": _watched("ready", 503)}}
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
            parameters = [*_parameters(schemas[_name(reference)]), *parameters]
        else:
            kind = "application/x-www-form-urlencoded" if operation.takes_form else _JSON
            described["requestBody"] = {
                # A form may be empty: the same parameters may stand in the query.
                "required": not operation.takes_form,
                "content": {kind: {"schema": reference}},
            }
    return described | ({"parameters": parameters} if parameters else {})


def _basic(operation: Operation) -> list[Json]:
    return [{"basic": []}] if operation.path == SEARXNG_PATH else []


def _responses(operation: Operation, refs: Mapping[Any, Json]) -> Json:
    body = [refs[model] for model in _models(operation.response)]
    content: Json = {_JSON: {"schema": _either(body)}}
    if operation.streams:
        content["text/event-stream"] = {"schema": {"type": "string"}}
    responses: Json = {
        "200": {"description": "The answer.", "headers": _REQUEST_ID, "content": content}
    }
    for status in sorted({*operation.statuses, *_REFUSED}):
        models = [operation.error] if status in operation.statuses else []
        if status in _REFUSED:
            models.append(ErrorBody)
        headers = _REQUEST_ID | (_RETRY_AFTER if status in _WAITS else {})
        responses[str(status)] = {
            "description": _phrase(status),
            "headers": headers,
            "content": {_JSON: {"schema": _either([refs[each] for each in _distinct(models)])}},
        }
    return responses


def _watched(name: str, *others: int) -> Json:
    """A route for whoever watches the server."""
    body = {"content": {_JSON: {"schema": {"type": "object"}}}}
    return {
        "operationId": name,
        "summary": "Tell how the server is.",
        "security": [],
        "responses": {
            str(status): {"description": _phrase(status), **body} for status in (200, *others)
        },
    }


def _phrase(status: int) -> str:
    return f"{HTTPStatus(status).phrase}."


def _parameters(schema: Json) -> list[Json]:
    required = schema.get("required", ())
    return [
        {"name": name, "in": "query", "required": name in required, "schema": rules}
        for name, rules in schema["properties"].items()
    ]


def _keep_arguments(model: type[BaseModel], schema: Json) -> None:
    """Take out the fields that no caller may give, and say of the others what a person is told of them."""
    declared = arguments_of(model) if issubclass(model, Frozen) else {}
    if not declared:
        return
    schema["properties"] = {
        name: {**rules, "description": declared[name].help}
        for name, rules in schema["properties"].items()
        if name in declared and not declared[name].argument.by_person
    }


def _answers(operation: Operation) -> list[type[BaseModel]]:
    return [*_models(operation.response), operation.error, ErrorBody]


def _models(response: type[BaseModel] | UnionType) -> Sequence[type[BaseModel]]:
    return get_args(response) if isinstance(response, UnionType) else [response]


def _either(schemas: Sequence[Json]) -> Json:
    return {"anyOf": [*schemas]} if len(schemas) > 1 else schemas[0]


def _distinct(models: Sequence[type[BaseModel]]) -> list[type[BaseModel]]:
    return list(dict.fromkeys(models))


def _name(reference: Json) -> str:
    return str(reference["$ref"]).rpartition("/")[2]


def _reachable(roots: Sequence[Json], schemas: Json) -> set[str]:
    """The names of the schemas that these references lead to."""
    found: set[str] = set()
    todo = [*map(_name, roots)]
    while todo:
        if (name := todo.pop()) not in found:
            found.add(name)
            todo.extend(_named_in(schemas[name]))
    return found


def _named_in(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        if isinstance(value.get("$ref"), str):
            yield _name(value)
        for each in value.values():
            yield from _named_in(each)
    elif isinstance(value, list):
        for each in value:
            yield from _named_in(each)

"""Whatever a stranger sends is answered, with a documented status."""

import json
from typing import Any
from urllib.parse import quote, urlencode

import httpx2
from hypothesis import given
from hypothesis import strategies as st

from searx_mcp.server.http import OPERATIONS

_LEAVES = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=40)
    | st.sampled_from(("https://a.example/", "bees", "10", "[1]", "abcdefghabcdefgh", "1e999"))
)
_VALUES = st.recursive(
    _LEAVES,
    lambda each: (
        st.lists(each, max_size=3) | st.dictionaries(st.text(max_size=5), each, max_size=3)
    ),
    max_leaves=6,
)
_LIKELY = {"query": "bees", "q": "bees", "url": "https://a.example/", "urls": ["a.example"]}


FORM = {"Content-Type": "application/x-www-form-urlencoded"}


def form(arguments: dict[str, Any]) -> str:
    written = {name: str(value) for name, value in arguments.items()}
    return urlencode({"format": "json", **written}, errors="replace")


@st.composite
def calls(draw: st.DrawFn) -> tuple[Any, dict[str, Any]]:
    """An operation, and arguments of its own with any values, or of no operation."""
    operation = draw(st.sampled_from(OPERATIONS))
    known = operation.request.model_fields if operation.request else {}
    fields = sorted(field.alias or name for name, field in known.items())
    likely = {name: value for name, value in _LIKELY.items() if name in fields}
    names = st.sampled_from(fields) if fields else st.text(max_size=8)
    body = draw(st.dictionaries(names | st.text(max_size=8), _VALUES, max_size=2))
    return operation, {**(likely if draw(st.booleans()) else {}), **body}


@given(call=calls(), query=st.text(max_size=40))
async def test_every_body_and_query_is_answered_as_documented(shared_app, call, query):
    operation, body = call
    transport = httpx2.ASGITransport(shared_app)
    async with httpx2.AsyncClient(base_url="http://localhost", transport=transport) as rest:
        if operation.read_arguments is not None:
            path = operation.path.replace(
                "{url}", quote(str(body.get("url", "")), errors="replace")
            )
            names = [field.alias for field in operation.request.model_fields.values()]
            headers = {
                str(name): str(body[name]).encode("ascii", "replace").decode()
                for name in body.keys() & {*names}
            }
            answer = await rest.get(path, headers=headers)
        elif operation.takes_form and operation.method == "POST":
            answer = await rest.post(operation.path, content=form(body), headers=FORM)
        elif operation.takes_form:
            answer = await rest.get(f"{operation.path}?{form(body)}")
        elif operation.method == "POST":
            content = json.dumps(body).encode()
            headers = {"Content-Type": "application/json"}
            answer = await rest.post(operation.path, content=content, headers=headers)
        else:
            answer = await rest.get(operation.path, params={"source_url": query, "whole": query})
    assert answer.status_code in {200, 400, *operation.statuses} - {500}
    if "json" in answer.headers["content-type"]:
        assert isinstance(answer.json(), dict | list)
    else:
        assert answer.headers["content-type"].partition(";")[0] in operation.media_types

"""The small changes that can be made to a module: another boundary, another number, a call left out."""

import ast
import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final, NamedTuple

_OPPOSITES: Final[dict[type[ast.cmpop], type[ast.cmpop]]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
_INVERSES: Final[dict[type[ast.operator], type[ast.operator]]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}
_SWAPPED: Final = {
    "min": "max",
    "max": "min",
    "any": "all",
    "all": "any",
    "floor": "ceil",
    "ceil": "floor",
    "startswith": "endswith",
    "endswith": "startswith",
}
_TEXTS: Final = frozenset({"description", "detail", "help", "name", "reason", "title"})
"""Named arguments that are text for people."""
_UNSEEN: Final = frozenset(
    {"annotation", "bases", "decorator_list", "keys", "returns", "type_params"}
)
"""Fields of nodes in which a change would be one of types or names."""
_COUNTED: Final = 20
"""Smaller numbers count something, and one more is another number; larger ones are sizes."""
_LEVELS: Final = frozenset({"debug", "info", "warning", "error", "exception"})


@dataclass(frozen=True, slots=True)
class Mutant:
    """One small change to a module.

    Attributes:
        line: where it is, from 1.
        kind: what was done, in a few words.
        start: where the changed part begins in the source, in bytes of UTF-8.
        end: where it ends.
        text: what stands there instead.
        lines: the lines of its statement; empty for what runs on import.
    """

    line: int
    kind: str
    start: int
    end: int
    text: str
    lines: range

    def apply(self, source: str) -> str:
        """The source with the change."""
        raw = source.encode()
        return (raw[: self.start] + self.text.encode() + raw[self.end :]).decode()


class _Change(NamedTuple):
    """What to put in the place of a node; text is put there as it is."""

    node: ast.expr | ast.stmt
    kind: str
    new: ast.expr | ast.stmt | str


def mutants_of(source: str) -> list[Mutant]:
    """All small changes to a module, from its first line to its last."""
    starts = [0]
    for text in source.encode().splitlines(keepends=True):
        starts.append(starts[-1] + len(text))
    found = {
        Mutant(
            line=change.node.lineno,
            kind=change.kind,
            start=starts[change.node.lineno - 1] + change.node.col_offset,
            end=starts[(change.node.end_lineno or 1) - 1] + (change.node.end_col_offset or 0),
            text=_code(change),
            lines=lines,
        )
        for change, lines in _walk(ast.parse(source), range(0), in_function=False)
    }
    return sorted(found, key=lambda mutant: (mutant.start, mutant.end, mutant.text))


def _code(change: _Change) -> str:
    if isinstance(change.new, str):
        return change.new
    text = ast.unparse(ast.fix_missing_locations(change.new))
    is_simple = isinstance(change.new, ast.Constant | ast.Name | ast.Call | ast.stmt)
    return text if is_simple else f"({text})"


def _walk(node: ast.AST, lines: range, *, in_function: bool) -> Iterator[tuple[_Change, range]]:
    if _stays(node):
        return
    if in_function and isinstance(node, ast.stmt):
        # Of a compound statement its head: the statements inside have lines of their own.
        inner = getattr(node, "body", None)
        end = inner[0].lineno if inner else (node.end_lineno or node.lineno) + 1
        lines = range(node.lineno, max(end, node.lineno + 1))
    for change in _CHANGES[type(node)](node) if type(node) in _CHANGES else ():
        yield change, lines
    is_function = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
    for name, value in ast.iter_fields(node):
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST) and name not in _UNSEEN:
                inside = in_function or (is_function and name == "body")
                yield from _walk(child, lines, in_function=inside)


def _stays(node: ast.AST) -> bool:
    """Whether a change in it would change text, types or logs only."""
    match node:
        case ast.JoinedStr() | ast.FunctionDef(name="__repr__") | ast.Expr(value=ast.Constant()):
            return True
        case (
            ast.If(test=ast.Name(id="TYPE_CHECKING")) | ast.Assign(targets=[ast.Name(id="__all__")])
        ):
            return True
        case ast.Call(func=ast.Attribute(value=ast.Name(id="_log"), attr=level)):
            return level in _LEVELS
        case ast.keyword(arg=name):
            return name in _TEXTS
        case _:
            return False


def _comparisons(node: ast.Compare) -> Iterator[_Change]:
    for place, operator in enumerate(node.ops):
        other = copy.deepcopy(node)
        other.ops[place] = _OPPOSITES[type(operator)]()
        yield _Change(node, "compared otherwise", other)


def _conditions(node: ast.BoolOp) -> Iterator[_Change]:
    other = ast.Or() if isinstance(node.op, ast.And) else ast.And()
    yield _Change(node, "and <-> or", ast.BoolOp(other, node.values))
    for place in range(len(node.values)):
        rest = node.values[:place] + node.values[place + 1 :]
        new = ast.BoolOp(node.op, rest) if len(rest) > 1 else rest[0]
        yield _Change(node, "condition dropped", new)


def _signs(node: ast.UnaryOp) -> Iterator[_Change]:
    yield _Change(node, "sign dropped", node.operand)


def _operations(node: ast.BinOp) -> Iterator[_Change]:
    if isinstance(node.left, ast.Constant) and isinstance(node.left.value, str):
        return
    if inverse := _INVERSES.get(type(node.op)):
        yield _Change(node, "inverse operation", ast.BinOp(node.left, inverse(), node.right))
    yield _Change(node, "operand dropped", node.left)


def _constants(node: ast.Constant) -> Iterator[_Change]:
    value = node.value
    others: tuple[float, ...] = ()
    if isinstance(value, bool):
        others = (not value,)
    elif isinstance(value, int):
        near = (value + 1, abs(value - 1)) if value < _COUNTED else (value // 2,)
        others = (*near, value * 2)
    elif isinstance(value, float):
        others = (value * 2, value / 2, value or 1.0)
    for other in {*others} - {value}:
        yield _Change(node, "another value", ast.Constant(other))


def _choices(node: ast.IfExp) -> Iterator[_Change]:
    yield _Change(node, "always the first", node.body)
    yield _Change(node, "always the second", node.orelse)


def _questions(node: ast.If | ast.While) -> Iterator[_Change]:
    if not isinstance(node.test, ast.Compare | ast.Constant | ast.UnaryOp):
        yield _Change(node.test, "turned round", ast.UnaryOp(ast.Not(), node.test))


def _filters(node: ast.comprehension) -> Iterator[_Change]:
    for condition in node.ifs:
        yield _Change(condition, "filter dropped", ast.Constant(value=True))


def _cuts(node: ast.Subscript) -> Iterator[_Change]:
    if isinstance(node.slice, ast.Slice) and isinstance(node.ctx, ast.Load):
        yield _Change(node, "cut dropped", node.value)


def _calls(node: ast.Call) -> Iterator[_Change]:
    name = getattr(node.func, "attr", getattr(node.func, "id", ""))
    if name in _SWAPPED:
        other = copy.deepcopy(node)
        setattr(other.func, "attr" if hasattr(node.func, "attr") else "id", _SWAPPED[name])
        yield _Change(node, f"{name} -> {_SWAPPED[name]}", other)
    if name in {"min", "max"} and len(node.args) > 1:
        for argument in node.args:
            if not isinstance(argument, ast.Starred):
                yield _Change(node, "one alone", argument)
    for keyword in node.keywords:
        if keyword.arg is not None and keyword.arg not in _TEXTS:
            rest = [each for each in node.keywords if each is not keyword]
            yield _Change(node, "argument dropped", ast.Call(node.func, node.args, rest))


def _members(node: ast.Set | ast.Tuple | ast.List) -> Iterator[_Change]:
    if len(node.elts) > 1 and not isinstance(getattr(node, "ctx", None), ast.Store):
        other = copy.deepcopy(node)
        del other.elts[-1]
        yield _Change(node, "member dropped", other)


def _entries(node: ast.Dict) -> Iterator[_Change]:
    if node.keys:
        yield _Change(node, "entry dropped", ast.Dict(node.keys[:-1], node.values[:-1]))


def _returns(node: ast.Return) -> Iterator[_Change]:
    if node.value is not None and not isinstance(node.value, ast.Constant):
        yield _Change(node.value, "nothing returned", ast.Constant(None))
        if isinstance(node.value, ast.Compare | ast.BoolOp):
            yield _Change(node.value, "turned round", ast.UnaryOp(ast.Not(), node.value))


def _statements(node: ast.Expr | ast.Raise) -> Iterator[_Change]:
    if not isinstance(node, ast.Expr) or not _stays(node.value):
        yield _Change(node, "dropped", "pass")


def _assignments(node: ast.Assign) -> Iterator[_Change]:
    for target in node.targets:
        if isinstance(target, ast.Attribute | ast.Subscript):
            rest = [each for each in node.targets if each is not target]
            new = ast.Assign(rest, node.value) if rest else "pass"
            yield _Change(node, "assignment dropped", new)


def _additions(node: ast.AugAssign) -> Iterator[_Change]:
    yield _Change(node, "dropped", "pass")
    if inverse := _INVERSES.get(type(node.op)):
        new = ast.AugAssign(node.target, inverse(), node.value)
        yield _Change(node, "inverse operation", new)


_CHANGES: Final[dict[type[ast.AST], Callable[..., Iterator[_Change]]]] = {
    ast.Compare: _comparisons,
    ast.BoolOp: _conditions,
    ast.UnaryOp: _signs,
    ast.BinOp: _operations,
    ast.Constant: _constants,
    ast.IfExp: _choices,
    ast.If: _questions,
    ast.While: _questions,
    ast.comprehension: _filters,
    ast.Subscript: _cuts,
    ast.Call: _calls,
    ast.Set: _members,
    ast.Tuple: _members,
    ast.List: _members,
    ast.Dict: _entries,
    ast.Return: _returns,
    ast.Expr: _statements,
    ast.Raise: _statements,
    ast.Assign: _assignments,
    ast.AugAssign: _additions,
    ast.Continue: lambda node: iter([_Change(node, "continue -> break", "break")]),
    ast.Break: lambda node: iter([_Change(node, "break -> continue", "continue")]),
}

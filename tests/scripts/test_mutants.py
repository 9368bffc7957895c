"""What the script that looks for untested code changes in it."""

import pytest


@pytest.fixture(scope="module")
def changed(load_script):
    """Gives the bodies that a function of one statement may come to have."""
    mutants_of = load_script("mutants").mutants_of

    def change(statement: str, head: str = "def f(a, b, c):") -> set[str]:
        source = f"{head}\n    {statement}\n"
        return {
            mutant.apply(source).removeprefix(f"{head}\n    ").rstrip()
            for mutant in mutants_of(source)
        }

    return change


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("a < b", {"pass", "(a <= b)"}),
        ("return a is b", {"return (a is not b)", "return None", "return (not a is b)"}),
        ("a and b", {"pass", "(a or b)", "a", "b"}),
        ("a = 3", {"a = 4", "a = 2", "a = 6"}),
        ("a = 4_096", {"a = 8192", "a = 2048"}),
        ("a = 0.5", {"a = 1.0", "a = 0.25"}),
        ("a = True", {"a = False"}),
        ("a = min(b, c)", {"a = max(b, c)", "a = b", "a = c"}),
        ("a = b + c", {"a = (b - c)", "a = b"}),
        ("a.x = a.y = b", {"a.y = b", "a.x = b"}),
        ("a.x += b", {"pass", "a.x -= b"}),
        ("a(b, timeout=c)", {"pass", "a(b)"}),
        ("a = b[:c]", {"a = b"}),
        ("a = [x for x in b if x]", {"a = [x for x in b if True]"}),
        ("a = b if c else {}", {"a = b", "a = ({})"}),
        ("raise a", {"pass"}),
        ("if a: b = c", {"if (not a): b = c"}),
        ("a = {b, c}", {"a = ({b})"}),
        ("return 'ä', a < b", {"return None", "return 'ä', (a <= b)", "return (('ä',))"}),
    ],
)
def test_code_is_changed_in_small_ways(changed, statement, expected):
    assert changed(statement) == expected


@pytest.mark.parametrize(
    "statement",
    ["'Text.'", "a: list[int] | None", "_log.info('x', a < 1)", "a = f'{b + 1}'", "..."],
)
def test_text_types_and_logging_stay(changed, statement):
    assert changed(statement) == set()


def test_a_change_knows_the_lines_whose_tests_may_notice(load_script):
    source = (
        "A = 1\ndef f(a=2):\n    if (a and\n        a > 3):\n        return g(\n            4)\n"
    )
    lines = {
        mutant.line: mutant.lines
        for mutant in load_script("mutants").mutants_of(source)
        if mutant.kind == "another value"
    }
    assert lines == {1: range(0), 2: range(0), 4: range(3, 5), 6: range(5, 7)}

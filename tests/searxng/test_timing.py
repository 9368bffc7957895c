import pytest

from searx_mcp.searxng.classify import server_timing


def test_the_total_of_each_engine_is_read_in_seconds() -> None:
    value = (
        "total;dur=14.767, render;dur=4.847, total_0_bench a;dur=4.449, total_1_duck.go_x;dur=1500,"
        " load_0_bench a;dur=3.455"
    )

    assert server_timing(value) == {"bench a": 0.004449, "duck.go_x": 1.5}


@pytest.mark.parametrize(
    "value",
    [
        "",
        "cache;desc=hit",
        "total;dur=1",
        "total_0_;dur=1",
        "total_0_a;dur=1.2.3",
        "total_0_a;dur=-1",
        "total_0_a;dur=99999999999999999999",
        "total_0_\u200b;dur=1",
        "xtotal_0_a;dur=1",
    ],
)
def test_a_header_of_another_kind_tells_nothing(value: str) -> None:
    assert server_timing(value) == {}


def test_the_number_of_engines_is_bounded() -> None:
    value = ", ".join(f"total_{n}_e{n};dur=1" for n in range(3_000))

    assert len(server_timing(value)) == 100

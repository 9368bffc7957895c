"""The fifty faults that a program which reads the web must survive, and that each is tested.

The other files of this folder name the number of a fault in the name of a row or in a docstring.
Those of searching are tested beside what they break.
"""

import re
from pathlib import Path

import pytest

FAULTS = {
    1: "connection refused",
    2: "SYN packets that are swallowed",
    3: "a name that does not exist",
    4: "a name server that does not answer",
    5: "private addresses among the answers, or in the next one",
    6: "an expired certificate",
    7: "a certificate that nobody signed",
    8: "a certificate of another host",
    9: "a TLS handshake that stalls",
    10: "a reset after the connection was accepted",
    11: "a connection closed before the headers",
    12: "headers drop by drop",
    13: "a body drop by drop",
    14: "silence after the headers",
    15: "chunks without end",
    16: "chunks of one byte",
    17: "a flood of 100 Continue",
    18: "a giant header",
    19: "a hundred thousand headers",
    20: "a bad status line",
    21: "HTTP/0.9",
    22: "HTTP/2 where it was not agreed on",
    23: "a body shorter than its length",
    24: "a body longer than its length",
    25: "lengths that are none, or two of them",
    26: "a length and chunks at once",
    27: "a cut chunk",
    28: "bad gzip",
    29: "cut gzip",
    30: "bombs",
    31: "stacked encodings",
    32: "an unknown encoding",
    33: "ten thousand gzip members",
    34: "redirects in circles and long chains",
    35: "redirects to where nobody may go",
    36: "429 with every kind of Retry-After",
    37: "503, then an answer",
    38: "a page of a limiter in place of JSON",
    39: "JSON that is broken, deep, huge or wrong",
    40: "JSON without results and with engines that failed",
    41: "a content type that is a lie",
    42: "a charset that is a lie",
    43: "deeply nested HTML",
    44: "a kept connection that was closed",
    45: "a clock that jumps, a loop that is blocked",
    46: "a failure or a cancellation at every wait",
    47: "a host that leaves in the middle of a call",
    48: "no free file descriptors",
    49: "a full disk",
    50: "two loops; a hundred starts and stops",
}
ELSEWHERE = {
    38: ("sources/searxng/test_upstream.py", "sources/searxng/test_classify.py"),
    39: ("sources/searxng/test_json_parser.py", "sources/searxng/test_fuzz.py"),
    40: ("sources/searxng/test_classify.py", "client/test_facade.py"),
}
FOLDER = Path(__file__).parent


def numbers() -> set[int]:
    texts = [file.read_text("utf-8") for file in FOLDER.glob("test_*.py")]
    named = r'(?:id=|^    )"(\d+) |"""Fault (\d+)|:? fault (\d+) of'
    found = [re.findall(named, text, re.MULTILINE) for text in texts]
    return {int(number) for each in found for groups in each for number in groups if number}


@pytest.mark.parametrize("number", [number for number in FAULTS if number not in ELSEWHERE])
def test_a_fault_of_the_table_is_tested_here(number):
    assert number in numbers(), FAULTS[number]


@pytest.mark.parametrize("number", ELSEWHERE)
def test_a_fault_of_searching_is_tested_beside_what_it_breaks(number):
    assert all((FOLDER.parent / name).is_file() for name in ELSEWHERE[number]), FAULTS[number]

"""What PDFium tells, in clean text."""

import threading

import pytest

from searx_mcp.content.pdf_source import iso_date, opened
from searx_mcp.testing.pdf import make_pdf


@pytest.mark.parametrize(
    ("text", "date"),
    [
        ("D:20240131120000+01'00'", "2024-01-31T12:00:00+01:00"),
        ("D:20240131120000-08'30", "2024-01-31T12:00:00-08:30"),
        ("D:20240131120000+01", "2024-01-31T12:00:00+01:00"),
        ("D:20240131120000Z", "2024-01-31T12:00:00+00:00"),
        ("D:20240131120000Z00'00'", "2024-01-31T12:00:00+00:00"),
        ("D:20240131120000", "2024-01-31T12:00:00"),
        ("D:202401311200", "2024-01-31T12:00:00"),
        ("D:20240131", "2024-01-31"),
        ("D:202401", "2024-01"),
        ("D:2024", "2024"),
        ("20240131", "2024-01-31"),
        (" D:20240131 ", "2024-01-31"),
        ("D:20241331", ""),
        ("D:20240230120000", ""),
        ("D:20240131250000", ""),
        ("D:20240131120000+99'00'", ""),
        ("D:00000131", ""),
        ("31 January 2024", ""),
        ("D:2024013112", "2024-01-31T12:00:00"),
        ("D:2024013", ""),
        ("D:\u0662\u0660\u0662\u0664", ""),
        ("", ""),
    ],
)
def test_dates_of_pdfs(text, date):
    assert iso_date(text) == date


def test_documents_are_opened_one_after_the_other():
    order = []

    def other() -> None:
        with opened(make_pdf("Second.")):
            order.append("second opened")

    thread = threading.Thread(target=other)
    with opened(make_pdf("First.")):
        thread.start()
        thread.join(0.05)
        order.append("first closing")
    thread.join(20)
    assert order == ["first closing", "second opened"]

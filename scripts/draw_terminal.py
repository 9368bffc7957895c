"""Draw what the command prints on a terminal, as the pictures in the README.

    python scripts/draw_terminal.py [FILE]                    docs/images/demo.svg
    python scripts/draw_terminal.py --answer FOLDER [FILE]    docs/images/answer.svg

FOLDER is Python's documentation as HTML, such as that of Debian's `python3.11-doc`; it is served on loopback and
shown under its public address. Each command runs on a terminal of its own, so it needs Linux or macOS.
"""

import argparse
import fcntl
import io
import os
import pty
import re
import struct
import sys
import termios
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread
from typing import Final

from rich.console import Console
from rich.text import Text

IMAGES: Final = Path(__file__).resolve().parents[1] / "docs" / "images"
COLUMNS: Final = 92
QUESTION: Final = "How do I open a SQLite database read-only?"
SITE: Final = "https://docs.python.org/3.11"
_LINES: Final = 17
"""Lines of the passage that are drawn."""
_FONT: Final = re.compile(r"@font-face \{.*?\}\s*", re.DOTALL)


def run_on_terminal(command: list[str], columns: int) -> str:
    """Run a command on a terminal, and give all that it wrote."""
    child, terminal = pty.fork()
    if child == 0:
        os.environ.update(TERM="xterm-256color", COLUMNS=str(columns))
        os.execv(command[0], command)  # noqa: S606 - our own program
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    written = bytearray()
    try:
        while chunk := os.read(terminal, 65_536):
            written += chunk
    except OSError:  # Linux says so when the program has ended
        pass
    os.waitpid(child, 0)
    return written.decode("utf-8", "replace").replace("\r\n", "\n")


def shortened(text: str) -> str:
    """The first search of the demo, with the first of its pages only."""
    first = text.split("\x1b[1;4m2. ", maxsplit=1)[0].strip("\n")
    head, _, rest = first.partition("words read")
    before, mark, learned = rest.rpartition("\x1b[1mWhat was asked")
    ending = before.rstrip("\n").rpartition("\n")[2]
    first_page = rest.split("\x1b[1m2. ")[0]
    return f"{head}words read{first_page.rstrip()}\n\n  …\n\n{ending}\n\n{mark}{learned}"


def answered(folder: Path) -> str:
    """What `answer` prints of a question to Python's documentation: the best passage, cut, and quotes."""
    handler = partial(SimpleHTTPRequestHandler, directory=str(folder))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server, TemporaryDirectory() as state:
        Thread(target=server.serve_forever, daemon=True).start()
        site = f"127.0.0.1:{server.server_port}"
        os.environ.update(SEARX_MCP_FETCH__ALLOW_PRIVATE=site, SEARX_MCP_STORAGE__FOLDER=state)
        command = [sys.executable, "-m", "searx_mcp", "answer", QUESTION, f"http://{site}/"]
        written = run_on_terminal(command, COLUMNS).replace(f"http://{site}", SITE)
        server.shutdown()
    seen = [line.rpartition("\r")[2] for line in written.strip().split("\n")]
    figures = seen.pop()
    first = "\n".join(seen).partition("\n\x1b[1m[2] ")[0].rstrip()
    passage, _, quotes = first.rpartition("\n\n")
    cut = passage.split("\n")[:_LINES]
    return "\n".join([*cut, "  …", "", quotes, "", figures])


def draw(command: str, text: str, columns: int) -> str:
    """An SVG of a terminal that loads nothing from elsewhere."""
    console = Console(record=True, width=columns, file=io.StringIO(), highlight=False)
    console.print(Text(f"$ {command}", style="bold green"))
    console.print(Text.from_ansi(text))
    return _FONT.sub("", console.export_svg(title="searx-mcp", unique_id=command.split()[2]))


def main() -> None:
    """Write the picture."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--answer", type=Path, metavar="FOLDER", help="Python's documentation")
    parser.add_argument("file", type=Path, nargs="?", help="in docs/images unless given")
    options = parser.parse_args()
    folder: Path | None = options.answer
    if folder is None:
        file, command = IMAGES / "demo.svg", "uvx searx-mcp demo"
        text = shortened(run_on_terminal([sys.executable, "-m", "searx_mcp", "demo"], COLUMNS))
    else:
        file, command = IMAGES / "answer.svg", f'uvx searx-mcp answer "{QUESTION}" {SITE}/'
        text = answered(folder)
    file = options.file or file
    file.write_text(draw(command, text, COLUMNS), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()

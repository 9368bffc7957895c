"""Draw what `searx-mcp demo` prints on a terminal, as the picture in the README.

    python scripts/draw_terminal.py [FILE]    docs/images/demo.svg unless given

It runs the demo on a terminal of its own, so it needs Linux or macOS.
"""

import fcntl
import io
import os
import pty
import re
import struct
import sys
import termios
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.text import Text

FILE: Final = Path(__file__).resolve().parents[1] / "docs" / "images" / "demo.svg"
COLUMNS: Final = 92
PROMPT: Final = "$ uvx searx-mcp demo"
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


def draw(text: str, columns: int) -> str:
    """An SVG of a terminal that loads nothing from elsewhere."""
    console = Console(record=True, width=columns, file=io.StringIO(), highlight=False)
    console.print(Text(PROMPT, style="bold green"))
    console.print(Text.from_ansi(text))
    return _FONT.sub("", console.export_svg(title="searx-mcp", unique_id="demo"))


def main() -> None:
    """Write the picture."""
    file = Path(sys.argv[1]) if len(sys.argv) > 1 else FILE
    written = run_on_terminal([sys.executable, "-m", "searx_mcp", "demo"], COLUMNS)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(draw(shortened(written), COLUMNS), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()

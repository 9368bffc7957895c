"""Loads modules without collecting garbage."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def loading() -> Iterator[None]:
    """Disable garbage collection: loading discards almost nothing, and collecting takes 7 % of it."""
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()  # these objects live as long as the process: later collections skip them
        gc.enable()

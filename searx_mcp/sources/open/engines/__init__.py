"""The open sources, one module each: row, request and parser; pure functions, no I/O."""

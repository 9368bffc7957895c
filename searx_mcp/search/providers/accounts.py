"""The budgets of open sources: spacing and a day's cap, below what their operators publish."""

from searx_mcp.sources.open.engine import Engine
from searx_mcp.storage.state import Account, Window

DAY = 86_400.0


def source_account(engine: Engine, *, has_contact: bool) -> Account:
    """The account of an engine, shared by the engines of one bucket.

    Args:
        engine: the row of the table.
        has_contact: whether its operator is told how to reach ours; some allow more then.
    """
    gap = engine.gap
    if not has_contact and engine.gap_without_contact is not None:
        gap = engine.gap_without_contact
    name = engine.bucket or engine.address
    spacing = Window(limit=engine.burst, seconds=gap * engine.burst)
    return Account(name, (spacing, Window(limit=engine.per_day, seconds=DAY)))

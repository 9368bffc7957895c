"""What must be remembered about instances across calls: budgets."""

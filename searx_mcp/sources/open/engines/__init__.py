"""What every engine is asked, and how its answer is read: pure functions, no I/O."""

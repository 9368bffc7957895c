"""The work of an operator, as values: the commands print them."""

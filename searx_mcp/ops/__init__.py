"""What an operator does, as values: the commands print them."""

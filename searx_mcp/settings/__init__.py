"""All settings in one value, and the only reader of the environment and of the file."""

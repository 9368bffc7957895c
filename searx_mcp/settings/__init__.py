"""All settings in one value, and the only code that reads the environment and the file."""

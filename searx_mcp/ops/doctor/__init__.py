"""What is wrong with this machine or an instance, found step by step."""

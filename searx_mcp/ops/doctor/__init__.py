"""The doctor: finds step by step why searches fail, on this machine or at an instance."""

"""The many ways in which pages write code, mathematics, callouts and notes, made one."""

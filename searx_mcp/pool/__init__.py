"""The pool of instances: a synchronous state machine that is given the time and the random numbers."""

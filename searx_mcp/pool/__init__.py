"""The pool of instances: a synchronous state machine; callers pass the time and the random numbers."""

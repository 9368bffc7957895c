"""The pool of instances: a synchronous state machine that is told the time and told the dice."""

"""An instance of one's own as a process of this machine, without a container and without root."""

"""The only place that knows databases: files that outlive a process."""

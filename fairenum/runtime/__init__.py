"""Support for running work: time limits, processes, compiled loops, plugins, and formatting of messages."""

"""How work is run: time limits, processes, threads, compiled loops, plugins, and hints in messages."""

"""The page of an exploration on this machine alone: a gate, routes, events and static files; no numbers of its own."""

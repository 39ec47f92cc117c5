"""Typed values of every document: what a run leaves behind, kept as JSON and handled as values.

Nothing here needs numpy: a saved run is read and shown without what computed it.
"""

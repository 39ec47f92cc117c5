"""Typed documents: the results that runs leave behind, kept as JSON and handled as values.

Nothing here needs numpy: a saved run is read and shown without the libraries that computed it.
"""

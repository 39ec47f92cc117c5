"""Exploring models by hand: the engine, the decision record, the server and the live page."""

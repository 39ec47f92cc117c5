"""Exploration of models by hand: the steps, the decision record, the HTTP server and the live page."""

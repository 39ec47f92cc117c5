"""Exploring by hand: one model after the other, on the selection split alone, every step recorded, and a decision."""

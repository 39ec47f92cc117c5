"""Measure decisions and scores as they are: nothing is trained, and no row is needed again once they are counted."""

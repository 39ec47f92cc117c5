"""Populations of which the truth is known, and how often what is said of samples of them is right."""

"""Flip prices and the parity range: proven bounds over all near-optimal SVMs, listed or not."""

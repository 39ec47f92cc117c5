"""The paper's experiments, run many times over, and a verdict on each of its claims."""

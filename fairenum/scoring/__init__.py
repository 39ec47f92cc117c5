"""Score all models at once: rates and gaps, statistics that hold, and how far the models disagree."""

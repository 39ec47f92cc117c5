"""The audit: from a table to the fairest near-optimal model, and to a document that says how sure that is."""

"""The audit of a table: near-optimal models listed, scored and compared, and the fairest selected."""

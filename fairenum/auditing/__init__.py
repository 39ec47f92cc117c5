"""The audit of a table: near-optimal models are listed, scored and compared, and the fairest is selected."""

"""Files for handing a run to others: tables for spreadsheets, and a zip archive of evidence that can be verified."""

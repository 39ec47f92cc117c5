"""Files to pass on a run: tables for spreadsheets, and a verifiable evidence file."""

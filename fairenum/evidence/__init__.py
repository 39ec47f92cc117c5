"""What a run is handed on as: tables for spreadsheets, and one file that holds all of it and can be checked."""

"""Pages that do not come from the live Web: the sample web and archives."""

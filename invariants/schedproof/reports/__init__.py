"""Reports: the result of a check written to files, in the formats that people ask for."""

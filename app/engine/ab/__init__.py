"""One setting measured in pairs: planned, run, put back, also after a crash."""

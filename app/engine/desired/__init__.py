"""Settings as code: what a machine should be set to, out of a file; how it differs, and how it is made so."""

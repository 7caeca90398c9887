"""A session as a document: one model, a writer for each format."""

"""A session: its events, their fold, and the files they are kept in."""

"""Sessions: their events, the state that follows from the events, and the files in which they are stored."""

"""Read-only queries of many hosts over ssh: their answers, why hosts are missing, and how hosts differ."""

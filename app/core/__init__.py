"""The workbench without a terminal: events, session, measuring, guarding."""

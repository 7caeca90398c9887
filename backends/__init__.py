"""Everything that talks to devices and tools."""

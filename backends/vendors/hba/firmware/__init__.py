"""What the firmware of a MegaRAID card says of itself when no vendor tool is there to ask it."""

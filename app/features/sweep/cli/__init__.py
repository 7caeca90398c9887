"""The commands `sweep`, `attach` and `curve`."""

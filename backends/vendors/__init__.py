"""One module per vendor, each exporting VENDOR."""

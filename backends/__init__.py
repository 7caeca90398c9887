"""Access to devices, tools and the operating system."""

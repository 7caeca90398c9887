"""What is shipped, made from this checkout: `make package`."""

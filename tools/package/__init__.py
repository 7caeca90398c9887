"""Builders of the release files from this checkout (`make package`)."""

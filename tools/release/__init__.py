"""Makes a release: signed files, and package repositories that any static web host can serve."""

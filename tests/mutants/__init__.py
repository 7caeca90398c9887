"""Whether the tests notice when the lines that guard data are changed."""

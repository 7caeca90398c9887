"""Code that all commands over ssh share: host names, ssh command lines, and the meaning of ssh's errors."""

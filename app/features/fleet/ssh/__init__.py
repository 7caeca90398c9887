"""Code that all commands over ssh share: host names, the call of ssh, and its error messages."""

"""What is reached over HTTPS instead of through a program: only where the configuration names it."""

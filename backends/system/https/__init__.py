"""Access to storage systems over HTTPS, only to the endpoints that the configuration names."""

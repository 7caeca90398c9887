"""Access to arrays over HTTPS, only for endpoints that the configuration names."""

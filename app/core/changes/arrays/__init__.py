"""Creation and deletion of arrays."""

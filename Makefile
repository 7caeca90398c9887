help:
	@echo placeholder

"""What of a machine's set-up costs speed or safety, told without any load."""

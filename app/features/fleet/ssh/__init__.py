"""What every command that goes to other hosts shares: their names, how ssh is called, what its words mean."""

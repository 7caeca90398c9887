"""The features of raidbench. The rest of the program reaches each only through its entry point (`app.doors`)."""

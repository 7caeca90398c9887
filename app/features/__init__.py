"""The features of raidbench, each behind a door of its own: see `app.doors`."""

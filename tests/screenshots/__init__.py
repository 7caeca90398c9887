"""The pictures in `screenshots/`: the real app on a recorded machine. `python -m tests.screenshots`."""

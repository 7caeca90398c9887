"""The end of `.ci/run`: repeat failed tests, find the flaky ones, decide the exit status."""

"""The end of `.ci/run`: repeat failed tests, tell flaky ones from broken ones, decide the exit status."""

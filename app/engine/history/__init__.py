"""Named baselines, and runs of now held against one."""

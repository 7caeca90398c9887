"""The verdicts on experiments whose truth is known, because they are drawn."""

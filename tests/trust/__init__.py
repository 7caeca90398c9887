"""`make trust`: every promise about other people's data, tried as often as its mark asks, one row each."""

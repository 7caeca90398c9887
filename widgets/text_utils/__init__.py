"""Plain helpers of text and figures: nothing is imported here, so everything may use them."""

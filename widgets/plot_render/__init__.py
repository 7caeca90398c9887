"""Pictures that stand still: what they show as values, painted by plotext into rows of text."""

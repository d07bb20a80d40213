"""From a number, a table or a figure back to the raw logs that it is made of."""

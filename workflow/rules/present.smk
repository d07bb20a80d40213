# Tidy tables to tables and figures.

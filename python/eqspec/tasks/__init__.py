"""Tasks and results as data: a claim with everything exact that its verdict depends on, and what became of it."""

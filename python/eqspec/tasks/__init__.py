"""Tasks and results as data: a claim with everything exact that its verdict depends on, and what became of it.

`task` and `search` are what is asked, `result`, `witness`, `bracket` and `verdict` what became of it, `question` what a
result says of its task in raw units. `serialisation` and `json_form` are both as JSON, `phrasing` in words.
`directed_rounding` takes exact numbers to floats, `lattice` has the grids that inputs lie on, and `row_groups`,
`row_share` and `binomial` sum checks over rows up.
"""

"""How results and findings are shown.

`formats` lists the forms of results: `table` and `live` on the terminal, `html` as a page, `json` and `json_lines`,
`junit`, `sarif` and `github` for CI servers. `run_output` is what a run of `eqspec check` prints and writes.
`comparison` sets two runs side by side, `comparison_forms` shows that. `statement` says what a task claims, `advice`
what would help an open one, `diagnostics` what is wrong with a spec.
"""

"""Runs tasks: lowers them for the compiled core, which is used nowhere else, and makes results of what it answers.

`runner` takes a task to its result, `batch` many of them. First comes what needs no search (`exactness`, by `by_grids`,
`by_cells` with `cell_runs`, and `exact_search`). Else `pairs` and `lowering` make the question for the core, `engine`
runs the search, behind which all cells of a region may be run (`exhaustion`), and what is decided afterwards of an open
claim is in `nearly` and `rounding`. `best_value` answers a `find`, by `bisection` or over `whole_numbers`, both by
`value_search`. `result_cache` keeps results and stopped searches, `earlier_proofs` hints for the next proof.
"""

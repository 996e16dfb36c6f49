"""Specs that nobody wrote: from two networks, a table and a scaler to the syntax tree of a first spec.

`named_pair` reads the two networks and names them, `data` reads the table and `row_labels` its labels. `scalings`
lists the ways to normalise it, `scaler_file` reads a scaler that the user names, `evidence` weighs the ways by the
labels that the reference answers (with `assignment`), `candidate_judged` holds the candidate against them, and
`completed` takes the one that is shown, or asks (`open_question`); `outputs` names the outputs. `space`, `region` and
`drafted_claim` make the parts, `verified_spec` puts together what `eqspec verify` asks, `observed_pair` looks at how
the pair behaves on data, and `first_spec` writes what `eqspec init` leaves behind.
"""

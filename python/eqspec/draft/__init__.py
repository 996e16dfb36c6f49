"""Specs that nobody wrote: from two networks, a table and a scaler to the syntax tree of a first spec.

`pair` reads the two networks and names them, `data` reads the table. `scalings` lists the ways to normalise it,
`evidence` weighs them by the labels that the reference answers (with `assignment`), and `completed` takes the one that
is shown, or asks (`asking`); `outputs` names the outputs. `space`, `region` and `claim` make the parts, `question` puts
together what `eqspec verify` asks, `observed` looks at how the pair behaves on data, and `first` writes what `eqspec
init` leaves behind.
"""

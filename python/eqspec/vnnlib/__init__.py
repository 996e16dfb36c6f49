"""VNN-LIB, the language of the verification competitions: files to specs, tasks to files, and their command line.

A VNN-LIB file asks whether there is a point where its asserts hold, and those describe what is *unsafe*. So `unsat`
there is `equivalent` here. Reading: `reading` (by `sexpr`, `declarations`, `expressions`) gives a `query`; `importing`
makes a spec of it (by `network_binding`, `input_coupling`, `input_regions`, `sentences`, `consistency`). Writing:
`exporting` (by `writing`, `product`). Answering: `answering`, `assignments`.
"""

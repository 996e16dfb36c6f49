"""The language server: what an editor asks about a spec while somebody writes it.

`understanding` reads a text that may be unsaved and unfinished, with the open texts it includes. What is asked about
it is answered by a file each, in terms of offsets and words: `meaning` says what a name stands for, `hover` says it in
words, `completion` what may come next, `outline` what a file declares, `last_verdicts` what became of its checks.
`server` speaks the Language Server Protocol with the editor (through pygls, which only it and `conversion` import) and
`open_specs` keeps up with the texts. Nothing here decides anything: `eqspec.check` runs what `eqspec check` runs.
"""

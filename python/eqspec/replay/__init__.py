"""Replays inputs: decides in exact arithmetic whether they break a claim, and looks for clearer and simpler ones.

`replay` decides, by `violation`; `holding` is the other side, whether a claim holds. `onnx_runtime` asks the original
files. `improving` makes a witness clearer by `ascent` and simpler by `shrinking`, both along `excess`; `bases` are what
it is made simpler towards. `equations` moves candidates to where the equations of a region hold. `recheck` evaluates
witnesses from files.
"""

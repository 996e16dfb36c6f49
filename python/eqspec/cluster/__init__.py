"""Searches on many machines: legs on the workers of a Dask cluster, and the coordinator that deals them out.

`leg` is what a worker does with a share of a search. `policy` decides what is next, without clock and network, so that
it also runs in a simulation; `coordinator` does it, over `transport`. `engine` answers as the core does, so a runner
need not know. `jobs` has other functions computed, each until an answer of it is taken. `worker_builds` says which
workers may compute, `opening` which cluster is meant.
"""

"""Searches on many machines: legs on the workers of a Dask cluster, and the coordinator that deals them out."""

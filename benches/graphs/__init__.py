"""Networks of convolutions, measured: `python -m benches.graphs`."""

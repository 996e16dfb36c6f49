"""The paper's evaluation (Teuber, Kern, Janzen, Beckert, *Revisiting Differential Verification*, TACAS 2025), re-run on
networks that our own training script makes: `python -m benches.paper`.
"""

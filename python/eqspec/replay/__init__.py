"""Replays inputs: decides in exact arithmetic whether they break a claim, and looks for clearer and simpler ones."""

"""Runs tasks: lowers them for the compiled core, which is used nowhere else, and makes results of what it answers."""

"""What each command takes, apart from what runs it: a module with `add(commands)` for each, named like the command's.

They import next to nothing, so that `eqspec COMMAND --help` and what is wrong with a command line are shown at once.
"""

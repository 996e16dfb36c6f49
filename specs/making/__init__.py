"""How the example networks are made: data, training, pruning, export. `specs/make_examples.py` puts it together."""

"""How results and findings are shown."""

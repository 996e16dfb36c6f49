"""Counterexamples in numbers, to learn from: many inputs that break a claim, apart from each other.

They are examples, not a census: nothing is proved by how many are found, or where.
"""

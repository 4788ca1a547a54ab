"""Explanations: which rule, or which code, made a field of an object, and from what.

Works from a recording of what the chain asked; prints nothing and decides nothing.
"""

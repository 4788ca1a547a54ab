"""The skeletons of the worker's objects: one module a kind, fields in, a plain object out.

Nothing is named, counted or decided here, and nothing is written to a cluster.
"""

"""The parts of the worker: each wires the controllers of one family of kinds to what wakes them.

What a controller wants is `engine.worker.controllers`; what all parts share is `engine.worker.stage`.
"""

"""What the worker wants done about each kind: one module a kind, `plan(neighbourhood) -> list[Action]`, pure.

Who sees the neighbourhood is `engine.worker.parts`; who carries the actions out is `engine.worker.loop`.
"""

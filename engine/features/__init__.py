"""Node features: what NodeFeature objects ask a Node's labels and annotations to be, and one guarded write that makes it so.

The pure part is `planner.plan` over a `Neighbourhood` that `book` assembles; `controller` is the only module that waits for
anything. Rules are the `host-labels` section's, and a rule object of others is not evaluated here.
"""

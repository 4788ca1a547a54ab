"""The one door to Kubernetes: connection, verbs, caches, queues, writers, election.

Knows no accelerator and no rule. Nothing outside this package imports `aiohttp` or `kubernetes`; `actions`, `objects` and
`resources` import neither, so that pure controllers may use them. See docs/cluster.md.
"""

"""What the verdict on Workloads needs of a cluster: what they ask for, the pool, the names, and what is promised already.

The verdict itself is the domain's (`engine.domain.gate`), its message to Kueue `engine.worker.controllers.nodedevices`.
"""

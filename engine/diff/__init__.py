"""What a change of packs, overlays or settings does to given machines, before it reaches a cluster.

Plans the machines twice and compares; writes nothing and reads no file.
"""

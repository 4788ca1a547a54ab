"""How rules get into a running worker: read from a mount, judged beside the old ones, taken over, held or refused, published.

Knows no maker and writes nothing to a cluster: what is to be written is given as actions.
"""

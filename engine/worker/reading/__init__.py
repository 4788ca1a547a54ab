"""What live objects say, as values of the domain: one file a kind.

Nothing is decided here, and nothing written.
"""

"""The objects of worker.gpustack.ai as types, and the CustomResourceDefinitions made from them.

One struct a kind: what is decoded, what is encoded and what the API server checks cannot differ. Nothing here talks to a
server or decides anything. See docs/api.md.
"""

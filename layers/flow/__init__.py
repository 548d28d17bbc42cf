"""What became of one layer's operations in the layers below."""

from .collectives import FlowCollectives

__all__ = ["FlowCollectives"]

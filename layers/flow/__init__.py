"""What became of one layer's operations in the layers below."""

from .calls import FlowCollectives

__all__ = ["FlowCollectives"]

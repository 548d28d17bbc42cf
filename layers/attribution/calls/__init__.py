"""Who calls what: call paths, the time of every call, and what of a run is spent in which layer."""

from .alone import Alone
from .calls import Calls, CallTime
from .cost import Overlap, RunCost, WaitingChain

__all__ = ["Alone", "CallTime", "Calls", "Overlap", "RunCost", "WaitingChain"]

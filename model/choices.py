"""Names that arguments take, as types: a type checker refuses what the program refuses."""

from typing import Literal

Direction = Literal["read", "write", "total"]
"""Of transfers; ``total`` is reads and writes together."""

TrafficKind = Literal["all", "own", "inherited"]
"""All transfers of a layer, those that the program itself called, or those that a higher layer caused."""

Quantity = Literal["bandwidth", "operations", "metadata", "in-flight"]
"""What a signal of a layer measures; metadata events have neither direction nor traffic."""

PartKey = Literal["file", "filesystem", "rank", "node", "handle"]
"""By what a layer is split into parts."""

EngineName = Literal["auto", "direct", "library"]
"""How an OTF2 archive is read."""

SamplingFrequency = float | Literal["auto"]
"""In Hz, or ``auto`` for one that follows from the signal."""

"""What a period detection gives back."""

from .evidence import AutocorrelationEvidence, Evidence, HybridEvidence, PhaseEvidence, SpectralEvidence
from .parts import PeriodMetrics, SamplingInfo

__all__ = [
    "AutocorrelationEvidence",
    "Evidence",
    "HybridEvidence",
    "PeriodMetrics",
    "PhaseEvidence",
    "SamplingInfo",
    "SpectralEvidence",
]

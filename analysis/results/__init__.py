"""What a period detection gives back."""

from .evidence import AutocorrelationEvidence, Evidence, HybridEvidence, LineEvidence, PhaseEvidence, SpectralEvidence
from .parts import PeriodMetrics, SamplingInfo

__all__ = [
    "AutocorrelationEvidence",
    "Evidence",
    "HybridEvidence",
    "LineEvidence",
    "PeriodMetrics",
    "PhaseEvidence",
    "SamplingInfo",
    "SpectralEvidence",
]

"""A signal as a few cosines, in the terminal view of ``iostrata periods``."""

from collections.abc import Iterator
from typing import Final

from ...analysis.signal_fit import SignalFit
from .quantities import QuantityWords
from .units import counted, frequency_text, seconds_text, share_text

_SHOWN: Final = 5


def fit_lines(fit: SignalFit, of: QuantityWords) -> Iterator[str]:
    """Give the error of the fit beside that of the plain sum, and the first cosines of it."""
    cosines = fit.fit.components
    fitted, of_lines = fit.error_shares
    what = f"{counted(len(cosines), 'cosine')} around the mean of {of.rate(cosines.mean)}"
    if fit.variance > 0:
        errors = f"leave {share_text(fitted, 1)} of the variance, the plain Fourier sum {share_text(of_lines, 1)}"
        if fit.fit.fell_back:
            errors += "; no fit was better than the sum"
        else:
            errors += f"; the fit takes {share_text(fit.fit.reduction, 1)} of its error away"
        yield f"{what} {errors}"
    else:
        yield f"{what}: the signal is constant"
    for frequency, amplitude, phase in list(
        zip(cosines.frequency.tolist(), cosines.amplitude.tolist(), cosines.phase.tolist(), strict=True)
    )[:_SHOWN]:
        yield (
            f"  every {seconds_text(1 / frequency)} ({frequency_text(frequency)}): amplitude {of.rate(amplitude)}, "
            f"phase {phase:+.2f} rad"
        )
    if len(cosines) > _SHOWN:
        yield f"  and {counted(len(cosines) - _SHOWN, 'further cosine')}, see --json"

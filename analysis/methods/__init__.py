"""The methods of period detection, one file each; the registry imports the one that is asked for."""

from ...model.faces import lazy_names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .hybrid_search import Hybrid as Hybrid
    from .hybrid_search import analyse_hybrid as analyse_hybrid

__getattr__, __dir__ = lazy_names(__name__)

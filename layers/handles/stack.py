"""The layers in their order, highest first, and where each handle stands among them."""

import numpy as np

from ...model.arrays import Frozen, Ints, Links, Mask, column_at, nearest_lower_rank, nearest_marked, sound_parents
from ...model.codes import KNOWN_STACK
from ...model.definitions import Definitions, Paradigm
from ...model.errors import SelectionError


def layer_name(paradigm: Paradigm) -> str:
    """Return the name of a paradigm's layer: its identification, else its name, else its number."""
    return paradigm.identification or paradigm.name or f"paradigm {paradigm.id}"


def layer_order(definitions: Definitions) -> tuple[str, ...]:
    """Return the layers of a trace, highest first: the paradigms that have handles.

    A paradigm stands above another if more handles of the other have a parent among its handles than the other way
    round; so a few bogus parents do not turn the order over. A paradigm of the operating system is above no other, for
    it calls none. Should majorities go round in a circle, the weakest gives way (ranked pairs: T. N. Tideman,
    *Independence of clones as a criterion for voting rules*, Social Choice and Welfare 4, 1987). What the handles leave
    open follows `KNOWN_STACK`; there, unknown paradigms stand above MPI-IO if they are parallel, else above ISO C, and
    those of the operating system above POSIX.
    """
    names = tuple(dict.fromkeys(map(layer_name, definitions.paradigms)))
    handles = definitions.handles
    layer = layer_rows(definitions, names, handles.paradigm)
    present = np.zeros(len(names), np.bool_)
    present[layer[layer >= 0]] = True
    first = {name: paradigm for paradigm in reversed(definitions.paradigms) for name in (layer_name(paradigm),)}
    place = [_place(name, first[name]) for name in names]
    net = _net_parents(layer, handles.parent, len(names))
    net[[first[name].os for name in names], :] = 0
    above = _ranked_pairs(net, place)
    order: list[str] = []
    left = set(np.flatnonzero(present).tolist())
    waiting = above[present].sum(axis=0)
    while left:
        row = min((row for row in left if not waiting[row]), key=lambda row: place[row])
        order.append(names[row])
        left.remove(row)
        waiting -= above[row]
    return tuple(order)


def layer_rows(definitions: Definitions, order: tuple[str, ...], paradigm: Links) -> Links:
    """Return the row in `order` of the layer of each paradigm row, int32 (n,), −1 where it is none."""
    rank = {name: row for row, name in enumerate(order)}
    by_paradigm = np.array([rank.get(layer_name(paradigm), -1) for paradigm in definitions.paradigms], np.int32)
    return column_at(by_paradigm, paradigm)


def layer_place(order: tuple[str, ...], name: str) -> int:
    """Return the place of a layer, 0 for the highest; raises SelectionError if the trace has no such layer."""
    if name not in order:
        raise SelectionError(f"no layer {name!r} in this trace; there are {', '.join(order) or 'none'}")
    return order.index(name)


def _place(name: str, paradigm: Paradigm) -> tuple[float, str]:
    """Return where a layer stands as far as its paradigm tells; the lower, the higher it stands."""
    if name in KNOWN_STACK:
        return float(KNOWN_STACK.index(name)), name
    neighbour = "POSIX" if paradigm.os else "MPI-IO" if paradigm.parallel else "ISOC"
    return KNOWN_STACK.index(neighbour) - 0.5, name


def _net_parents(layer: Links, parent: Links, count: int) -> Ints:
    """Return by how many handles each layer (row) is rather the parent of another (column) than its child."""
    child = np.flatnonzero((parent >= 0) & (parent < len(parent)))
    upper, lower = layer[parent[child]], layer[child]
    between = (upper >= 0) & (lower >= 0) & (upper != lower)
    pairs = upper[between].astype(np.int64) * count + lower[between]
    handles = np.bincount(pairs, minlength=count * count).reshape(count, count)
    return np.asarray(handles - handles.T, np.int64)


def _ranked_pairs(net: Ints, place: list[tuple[float, str]]) -> Mask:
    """Return which layer (row) stands above which (column), transitively; strong majorities are heard first."""
    above = np.zeros(net.shape, np.bool_)
    pairs = [(int(upper), int(lower)) for upper, lower in np.argwhere(net > 0)]
    for upper, lower in sorted(pairs, key=lambda pair: (-net[pair], place[pair[0]], place[pair[1]])):
        if upper == lower or above[lower, upper] or above[upper, lower]:
            continue
        higher = above[:, upper].copy()
        higher[upper] = True
        deeper = above[lower].copy()
        deeper[lower] = True
        above |= np.outer(higher, deeper)
    return above


class HandleStack(Frozen):
    """Handles by layer and parent, columns over the rows of ``Definitions.handles``.

    Attributes
    ----------
    layer : int32
        Counted from the highest, −1 where the handle's paradigm is undefined.
    parent : int32
        Row of the parent, without circles; −1 at a root.
    higher : int32
        Row of the nearest ancestor of a higher layer, −1 where there is none. Parents of the same or a lower layer,
        such as ``fcntl(F_DUPFD)`` leaves behind, do not count.
    """

    layer: Links
    parent: Links
    higher: Links


class Lineages(Frozen):
    """Handles by their layer and the layers that they descend from: all that a signal can be asked for.

    Attributes
    ----------
    of_handle : int32 (handles,)
        Number of the lineage, −1 where the layer is undefined.
    layer : tuple of int
        Of each lineage, counted from the highest.
    above : tuple of frozenset of int
        Higher layers that its handles descend from; empty where the program itself calls the layer.
    """

    of_handle: Links
    layer: tuple[int, ...]
    above: tuple[frozenset[int], ...]

    def __len__(self) -> int:
        return len(self.layer)

    @property
    def traffic(self) -> tuple[tuple[int, bool], ...]:
        """Layer of each lineage, and whether a higher layer causes its traffic."""
        return tuple((layer, bool(above)) for layer, above in zip(self.layer, self.above, strict=True))

    def chosen(self, layer: int, traffic: str = "all", below: int | None = None) -> list[int]:
        """Return the lineages of a layer, of its own or inherited traffic only, or only those below another layer."""
        found = [row for row, one in enumerate(self.layer) if one == layer]
        if traffic != "all":
            found = [row for row in found if bool(self.above[row]) == (traffic == "inherited")]
        return found if below is None else [row for row in found if below in self.above[row]]


def handle_lineages(stack: HandleStack) -> Lineages:
    """Return the lineages of all handles; the work follows the handles times the layers that have some."""
    number = stack.layer.astype(np.int64)
    layers = np.unique(stack.layer[stack.layer >= 0]).tolist()
    # Nothing lies below the lowest one.
    higher = layers[:-1] if (stack.parent >= 0).any() else []

    def descending(layer: int) -> Mask:
        return (nearest_marked(stack.parent, stack.layer == layer) >= 0) & (stack.layer > layer)

    for layer in higher:
        number = np.unique(number * 2 + descending(layer), return_inverse=True)[1].astype(np.int64)
    defined = np.flatnonzero(stack.layer >= 0)
    first, place = np.unique(number[defined], return_index=True, return_inverse=True)[1:]
    of_handle = np.full(len(number), -1, np.int32)
    of_handle[defined] = place
    some = defined[first]
    above: list[set[int]] = [set() for _ in some]
    for layer in higher:
        for lineage in np.flatnonzero(descending(layer)[some]).tolist():
            above[lineage].add(layer)
    return Lineages(of_handle, tuple(stack.layer[some].tolist()), tuple(map(frozenset, above)))


def handle_stack(definitions: Definitions, order: tuple[str, ...]) -> HandleStack:
    """Return where each handle stands; `order` has the layers, highest first, as from `layer_order`."""
    layer = layer_rows(definitions, order, definitions.handles.paradigm)
    parent = sound_parents(definitions.handles.parent)[0]
    return HandleStack(layer, parent, higher_ancestors(parent, layer))


def higher_ancestors(parent: Links, layer: Links) -> Links:
    """Return the row of each handle's nearest ancestor of a higher layer, int32 (n,), −1 where there is none.

    `parent` has no cycles; layers count from the highest, and −1, undefined, is below all.
    """
    lowest = np.int32(layer.max(initial=-1) + 1)
    return nearest_lower_rank(parent, np.where(layer < 0, lowest, layer).astype(np.int32))

"""The inner nodes of a WiB+-Tree: which leaf a key belongs to."""

from array import array
from bisect import bisect_left
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..key_bounds import LAST

_FEW = 64  # keys that are sought faster one by one


@dataclass(eq=False)
class _Node:
    """Children in order and the last key of each; children are leaves, or nodes one level below."""

    bounds: array
    children: Any  # a list of nodes, or an array of leaves

    def insert(self, at: int, bound: int, child) -> None:
        """The child at ``at`` keeps the keys up to ``bound``; a new one after it gets the others."""
        self.bounds.insert(at, bound)
        self.children.insert(at + 1, child)


class InnerNodes:
    """A tree of nodes with at most ``fan`` children, no key twice in it, all leaves at one depth.

    Leaves are numbers. A batch is sought in the bounds of all leaves in a row, which NumPy searches faster than nodes
    one by one; the row is made anew when a leaf has been split.
    """

    def __init__(self, leaf: int, fan: int = 64):
        if fan < 2:
            raise ValueError(f"inner nodes of {fan} child make no tree: give at least 2")
        self.fan = fan
        self.height = 1
        self._root = _Node(array("q", [LAST]), array("q", [leaf]))
        self._row = None

    def in_a_row(self) -> tuple[np.ndarray, np.ndarray]:
        """The last key of each leaf but the last, and the leaves, in order."""
        if self._row is None:
            level = [self._root]
            for _ in range(self.height - 1):
                level = [child for node in level for child in node.children]
            bounds, leaves = (
                np.frombuffer(b"".join(column), np.int64)
                for column in ([node.bounds for node in level], [node.children for node in level])
            )
            self._row = bounds[:-1], leaves
        return self._row

    def find(self, keys: np.ndarray) -> np.ndarray:
        """The leaf of each key."""
        if self._row is None and len(keys) <= _FEW:
            return np.fromiter(map(self._find_one, keys.tolist()), np.int64, len(keys))
        bounds, leaves = self.in_a_row()
        return leaves[np.searchsorted(bounds, keys, side="left")]

    def _find_one(self, key: int) -> int:
        node: Any = self._root
        for _ in range(self.height):
            node = node.children[bisect_left(node.bounds, key)]
        return node

    def split(self, bound: int, leaf: int) -> None:
        """The leaf to which ``bound`` belongs keeps the keys up to it; a new leaf right after it gets the others."""
        path = []
        node: Any = self._root
        for _ in range(self.height):
            at = bisect_left(node.bounds, bound)
            path.append((node, at))
            node = node.children[at]
        child = leaf
        for node, at in reversed(path):
            node.insert(at, bound, child)
            if len(node.children) <= self.fan:
                break
            half = len(node.children) // 2
            bound, child = node.bounds[half - 1], _Node(node.bounds[half:], node.children[half:])
            del node.bounds[half:], node.children[half:]
        else:
            self._root = _Node(array("q", [bound, LAST]), [self._root, child])
            self.height += 1
        self._row = None

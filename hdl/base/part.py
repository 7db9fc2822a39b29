"""Components that are written out once however often they are used."""

import abc
import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from amaranth.hdl import Fragment, Instance, Module, ResetInserter, Signal
from amaranth.lib import wiring


class SharingPlatform(abc.ABC):
    """A platform that emits each kind of part once, and gives all who use it an instance of that module."""

    @abc.abstractmethod
    def instance_of(self, part: "Part") -> Instance | None:
        """What stands for a part; ``None`` if it is to elaborate itself."""


class Ported(wiring.Component):
    """A component as checkers of types see it: ports become attributes by its signature, which they do not read."""

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...

        def elaborate(self, platform) -> Module | Fragment: ...


class Part(Ported):
    """A component that knows its ``kind``: its class and the arguments it was made with.

    Parts of equal kind are the same hardware. A chain of 64 cores thus needs its core elaborated and emitted once
    only: a :class:`SharingPlatform` is asked for a stand-in (an instance of a module that it emits elsewhere) before a
    part elaborates itself; where it answers ``None``, and with any other platform, the part elaborates as usual.

    Attributes
    ----------
    reset
        A signal that resets this part instead of the reset that all share, so that no wire has to reach every
        register of a large design in one cycle. Where the part elaborates itself, both do.
    """

    #: Synthesis leaves parts of this class alone: neither dissolved into their surroundings nor merged with equals.
    kept = False
    #: It is a chain of cores whose ends are neighbours, too: a ring, which a floorplan folds flat.
    closed = False
    reset: Signal | None = None
    kind: tuple[type, tuple, dict[str, Any]]

    def __new__(cls, *args, **kwargs):
        # One frame further up: a warning that a part is not used names the line of whoever made it.
        self = super().__new__(cls, src_loc_at=1)  # pyright: ignore[reportCallIssue] (the stubs leave it out)
        self.kind = (cls, args, kwargs)
        return self

    def __init_subclass__(cls):
        super().__init_subclass__()
        if "elaborate" in vars(cls):
            cls.elaborate = _unless_shared(cls.elaborate)


def _unless_shared(elaborate: Callable[..., Module | Fragment]) -> Any:
    @functools.wraps(elaborate)
    def elaborate_unless_shared(self, platform):
        shared = isinstance(platform, SharingPlatform)
        stand_in = platform.instance_of(self) if shared else None
        if stand_in is not None:
            return stand_in
        whole = elaborate(self, platform)
        if self.reset is None or shared:
            return whole
        return ResetInserter(self.reset)(Fragment.get(whole, platform))

    return elaborate_unless_shared

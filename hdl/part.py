"""Components that are written out once however often they are used."""

import functools

from amaranth.lib import wiring


class Part(wiring.Component):
    """A component that knows its ``kind``: its class and the arguments it was made with.

    Parts of equal kind are the same hardware. A chain of 64 cores thus needs its core elaborated and emitted once
    only: a platform that has a method ``instance_of`` is asked for a stand-in (an instance of a module that it emits
    elsewhere) before a part elaborates itself; where it answers ``None``, and with any other platform, the part
    elaborates as usual.
    """

    def __new__(cls, *args, **kwargs):
        self = super().__new__(cls)
        self.kind = (cls, args, kwargs)
        return self

    def __init_subclass__(cls):
        super().__init_subclass__()
        if "elaborate" in vars(cls):
            cls.elaborate = _unless_shared(cls.elaborate)


def _unless_shared(elaborate):
    @functools.wraps(elaborate)
    def elaborate_unless_shared(self, platform):
        stand_in = platform.instance_of(self) if hasattr(platform, "instance_of") else None
        return elaborate(self, platform) if stand_in is None else stand_in

    return elaborate_unless_shared

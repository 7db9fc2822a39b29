"""What a board holds: the self-test, the board's clock and reset, and lights that tell how it went."""

from amaranth.build import Platform
from amaranth.hdl import ClockSignal, Elaboratable, Instance, Module, Mux, ResetSignal, Signal
from amaranth.lib import io
from amaranth.lib.cdc import FFSynchronizer

from streamjoin.sim.verilog.generate import Verilog

#: Lights that a verdict takes if each gets its own.
_THREE = 3
_SLOW_HZ, _FAST_HZ = 1, 8


class BoardTop(Elaboratable):
    """The Verilog of a self-test, as it was simulated, between a board's pins.

    The board's reset, or its first button where it has none, starts the test anew. Lights: see :func:`lights_of`.
    """

    def __init__(self, verilog: Verilog):
        self.verilog = verilog

    def elaborate(self, platform):
        m = Module()
        name = self.verilog.manifest["name"]
        platform.add_file(f"{name}.v", self.verilog.text)
        again = Signal()
        if platform.default_rst is None and ("button", 0) in platform.resources:
            m.submodules.button = button = io.Buffer(io.Direction.Input, platform.request("button", 0, dir="-"))
            m.submodules.again = FFSynchronizer(button.i.any(), again)
        state = {word: Signal(name=word) for word in ("running", "done", "passed", "failed")}
        m.submodules.self_test = Instance(
            name,
            i_clk=ClockSignal(),
            i_rst=ResetSignal(allow_reset_less=True) | again,
            **{f"o_{word}": signal for word, signal in state.items()},
        )

        ticks = Signal(range(int(platform.default_clk_frequency / _SLOW_HZ)))
        slow, fast = ticks[-1], ticks[-1 - (_FAST_HZ // _SLOW_HZ).bit_length() + 1]
        m.d.sync += ticks.eq(ticks + 1)
        running = state["running"] & slow
        passed, failed = state["passed"], state["failed"]
        kind, _ = lights_of(platform)
        if kind == "three":
            leds = zip(_leds(platform), (running, passed, failed), strict=False)
            ports = {f"led{n}": (platform.request("led", n, dir="-"), value) for n, value in leds}
        elif kind == "colour":
            light = platform.request("rgb_led", 0, dir=dict.fromkeys("rgb", "-"))
            ports = {"blue": (light.b, running), "green": (light.g, passed), "red": (light.r, failed)}
        else:
            verdict = Mux(failed, fast, running | passed)
            ports = {"led": (platform.request("led", _leds(platform)[0], dir="-"), verdict)}
        for name, (port, value) in ports.items():
            m.submodules[name] = buffer = io.Buffer(io.Direction.Output, port)
            m.d.comb += buffer.o.eq(value.replicate(len(port)))
        return m


def lights_of(platform: Platform) -> tuple[str | None, str]:
    """Which lights a board has for us, and what they will say, in words; ``None`` if it has none.

    ``"three"``: one for each of running, passed, failed. ``"colour"``: one of three colours. ``"one"``: a single one
    that blinks slowly, stands, or blinks fast.
    """
    leds = _leds(platform)
    if len(leds) >= _THREE:
        a, b, c = leds[:_THREE]
        return "three", f"led {a} blinks while it runs, led {b} is on if it passed, led {c} if it failed"
    if ("rgb_led", 0) in platform.resources:
        return "colour", "rgb_led 0 blinks blue while it runs, is green if it passed, red if it failed"
    if leds:
        return "one", f"led {leds[0]} blinks slowly while it runs, is on if it passed, blinks fast if it failed"
    return None, "no lights"


def _leds(platform: Platform) -> list[int]:
    return sorted(number for name, number in platform.resources if name == "led" and isinstance(number, int))

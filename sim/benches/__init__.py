"""The cocotb benches: modules that run inside the simulator.

One for each component, and ``join`` for whole designs; ``dut``, ``streams``, ``gathering``, ``pairs`` and ``spread``
are what they share.
"""

#: The environment variable that carries the manifest and the settings to a bench, as JSON.
ENVIRONMENT = "STREAMJOIN_BENCH"

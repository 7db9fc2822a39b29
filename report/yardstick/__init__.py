"""The yardstick: joins in C++ for one core of a processor, tuned, compiled on the spot and exact by the same reference.

Whoever thinks of hardware for a join should know what a processor does without any. :func:`.one_core.one_cpu_core`
tells it, for this machine.
"""

"""Attributes of memories, for synthesis.

What they hold before anything is written, nobody may rely on: a chip need not clear them, a reset leaves in them what
was there, and to a simulator of four states it is unknown. So a part looks only at what it has written since the last
reset, or makes nothing of what it sees. Where it cannot know, it clears a memory after the reset, word by word, before
the first tuple comes (``clearing`` of the parameters says how long that takes).
"""

#: Attributes of a memory in which no word is ever read and written in one cycle where it matters what is read. A block
#: RAM does not say what that gives; without this promise synthesis puts comparators and registers around it.
NEVER_COLLIDES = {"no_rw_check": 1, "ramstyle": "no_rw_check"}

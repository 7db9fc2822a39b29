"""What synthesis has to be told about memories."""

#: Attributes of a memory in which no word is ever read and written in one cycle where it matters what is read. A block
#: RAM does not say what that gives; without this promise synthesis puts comparators and registers around it.
NEVER_COLLIDES = {"no_rw_check": 1, "ramstyle": "no_rw_check"}

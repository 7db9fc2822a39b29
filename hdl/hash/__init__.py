"""The hash join: whole windows behind one hash table for each stream, two tuples a cycle."""

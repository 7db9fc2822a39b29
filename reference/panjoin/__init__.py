"""PanJoin (Pan and Jacobsen 2018): windows as chains of subwindows, each with an index on the key."""

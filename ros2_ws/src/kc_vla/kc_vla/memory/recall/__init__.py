"""Which units of a memory an instruction is about, and how sure that is."""

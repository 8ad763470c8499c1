"""Which unit leaves a memory that is full: policies over keys alone, behind one interface."""

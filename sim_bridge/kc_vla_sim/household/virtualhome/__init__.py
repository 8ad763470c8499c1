"""Goals of VirtualHome, that nobody of this stack wrote, for its planner and memories; with the package `eai-eval`."""

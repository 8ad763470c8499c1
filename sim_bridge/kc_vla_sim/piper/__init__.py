"""A simulated body for the emulated Piper: what moves on the CAN bus moves at a table in ManiSkill."""

"""UFACTORY xArm as an arm of kc_vla: one row, one driver, one robot file. See the README."""

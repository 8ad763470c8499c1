"""`kc-vla eval perception`: what two memories hold after a robot has looked around in a kitchen, against the truth."""

"""An AgileX Piper without hardware: it speaks the arm's CAN protocol and behaves as the arm does."""

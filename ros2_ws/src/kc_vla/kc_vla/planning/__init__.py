"""Plan an instruction as skills with the help of the memories, and carry the skills out."""

"""Questions to the memory of a robot that lived in a generated home: their answers by the world, and a measurement."""

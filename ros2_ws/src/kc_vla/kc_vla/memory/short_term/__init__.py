"""What was just seen and used: units, and the small memory that keeps them."""

"""Layout and contents of the rendered kitchen: plain logic, without a simulator."""

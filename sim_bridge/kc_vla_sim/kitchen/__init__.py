"""What is in the rendered kitchen and where: plain logic, without a simulator."""

"""The k best support vector machines with distinct support vectors, best first, exact."""

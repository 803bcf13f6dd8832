"""What training networks needs of a method and of a network, whatever library computes: PyTorch or JAX."""

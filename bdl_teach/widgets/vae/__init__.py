"""The latent map of a VAE that is trained in view."""

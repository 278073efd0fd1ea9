"""Songs without weights: a composer, a sampler and a sound bank."""

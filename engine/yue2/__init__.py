"""The YuE2 model: from style, lyrics and score to codes, from codes to latents, from latents to sound."""

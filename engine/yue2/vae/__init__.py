"""The audio codec of YuE2: latents to sound and back, tile by tile."""

"""Drawing tokens: what may be drawn, how, and for several songs in step."""

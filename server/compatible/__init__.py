"""Other services' requests and answers in our words: OpenAI's audio calls and ElevenLabs' music calls. Pure."""

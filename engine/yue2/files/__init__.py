"""A YuE2 checkpoint as files: configurations, headers, digests, and tensors mapped into memory."""

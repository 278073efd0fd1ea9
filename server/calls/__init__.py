"""Synchronous calls: one request that waits for its job and carries the result away.

Retries of one call find the job of its first attempt; a job whose client has gone is given up.
"""

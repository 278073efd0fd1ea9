"""Durable projects that outlive a process. Holds nothing yet; the import rules already cover it."""

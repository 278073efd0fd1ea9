"""Text as it is written into text as it is said."""

"""Tests of how writing becomes what is said."""

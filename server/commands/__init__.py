"""The commands of `yue2-studio`, one a module; each imports what it needs only when it runs."""

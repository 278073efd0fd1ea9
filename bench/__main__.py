"""Every benchmark, one after another: `python -m bench [--full]`; 1 where a bar was missed in any."""

from importlib import import_module

BENCHMARKS = ("floors", "health", "download", "sketch")


def main() -> int:
    """Run them all; what is slow to import is imported when its turn comes."""
    return max([int(import_module(f"bench.{name}").main()) for name in BENCHMARKS])


if __name__ == "__main__":
    from bench.report import end

    end(main)

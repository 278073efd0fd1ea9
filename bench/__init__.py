"""Benchmarks as programs: each prints a table and writes its raw samples to bench/results/.

Run them as modules from the repository's root: `python -m bench.floors`, `bench.health`, `bench.download`,
`bench.sketch`, `bench.speech`, `bench.clients`, `bench.transcription`, `bench.sound`; `--full` takes longer and repeats more. A program leaves with 1 where a bar is missed. Floors are
measured in the same run as the product, in turns with it, because machines differ and change. A program warns where
the machine was busy before it; the file tells that load, the one after, the machine and the versions of all packages.
`bench.engine` and `bench.engine.health` need torch and are run by themselves; there `--full` is the real model's size.
"""

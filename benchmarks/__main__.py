"""Run all benchmarks: ``python -m benchmarks``, with the options of each."""

from benchmarks import history, rows

if __name__ == "__main__":
    history.main()
    rows.main()

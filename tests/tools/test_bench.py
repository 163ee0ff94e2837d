"""Test what a benchmark measures and reports; no test looks at a time."""

import json

import bench
import pytest
from bench import live


@pytest.mark.slow
def test_live_benchmark_reports_time_error_and_memory_of_refits(capsys):
    assert bench.main(["live", "--only-ours", "--repeats", "1", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [row["name"] for row in told["rows"]] == list(live.OURS)
    assert all(row["refit_s"] > 0 and row["predict_s"] > 0 for row in told["rows"])
    assert all(row["rms"] < 3.0 for row in told["rows"])  # of a sine of amplitude 10
    assert told["resident_mb_after_ours"] > 100

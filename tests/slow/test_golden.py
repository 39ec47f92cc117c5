"""The golden check: runs and saved reports give what they gave before; a difference is meant, and kept by a commit."""

from support.golden import differences, golden


def test_runs_and_reports_give_what_they_gave_before(tmp_path):
    assert differences(golden(tmp_path / "golden")) == []

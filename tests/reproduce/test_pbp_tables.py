"""The tables of PBP: tasks, one real run where there are data, and honest verdicts."""

from datafiles import need_data

from bdl_teach.reproduce.tables import california, pbp_uci


def test_a_split_is_run_as_published():
    need_data("yacht")
    figures = pbp_uci.run(**pbp_uci.TABLE.tasks(True)[-1].arguments)  # yacht, split 1
    assert 0.4 < figures["rmse"] < 2.0
    assert -2.0 < figures["log_likelihood"] < -1.3
    assert 0.7 < figures["alpha_share"] < 1.01


def uci_rows(rmse: float, share: float, n: int = 20, line: str = "boston"):
    figures = {"rmse": rmse, "log_likelihood": -2.574, "alpha_share": share}
    return pbp_uci.TABLE.summarise([({"line": line, "split": i}, figures) for i in range(n)])


def test_the_verdict_is_held_against_the_authors_program():
    rows = uci_rows(3.1, 0.7)
    assert [row.verdict.split(":")[0] for row in rows] == ["agrees"] * 3
    assert rows[0].published == "3.014±.180; 3.005±0.18"
    assert uci_rows(3.5, 0.7)[0].verdict.startswith("differs")
    assert uci_rows(3.1, 0.05)[2].verdict.startswith("differs: the noise update")


def test_the_authors_program_agrees_with_their_paper():
    """Within three errors, and what is printed without one to half its last digit."""
    for line, published in pbp_uci.PUBLISHED.items():
        for printed, (original, _) in zip(published.paper, published.original, strict=True):
            if printed:
                mean, _, error = printed.partition("±")
                reach = 3 * float(error) if error else 0.5 * 10.0 ** -len(mean.partition(".")[2])
                assert abs(original - float(mean)) <= reach, (line, printed, original)


def test_california_is_judged_by_its_log_likelihood():
    def rows(method, epochs, score):
        figures = {"log_likelihood": score, "rmse": 0.6, "alpha": 7600.0, "noise_var": 0.35}
        return california.TABLE.summarise([({"method": method, "epochs": epochs}, figures)])

    assert rows("PBP", 1, -0.86)[0].verdict.startswith("agrees")
    assert rows("PBP", 40, -0.80)[0].verdict.startswith("differs")
    assert rows("listing", 1, -1.79)[0].verdict.startswith("agrees")
    assert rows("listing", 40, -0.70)[0].label == "listing, 40 epochs"

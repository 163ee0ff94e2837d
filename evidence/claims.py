"""The command `claims`; importing this needs the standard library only."""

import argparse
import difflib
import json
from collections.abc import Callable, Collection, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import partial
from typing import Any

from bdl_teach import claims as package
from bdl_teach._support import report
from bdl_teach._support.files import write_whole
from bdl_teach.claims import World
from evidence import claim
from evidence.claim import Experiment
from evidence.judge import ENOUGH, Finding, chance, judge
from evidence.options import KEPT, add_running, count
from evidence.source import hash_of
from evidence.table import Task

JUDGED = (
    "A world is a data set and a start. A claim holds if the mean effect lies where its rule wants "
    "it by two standard errors. The command ends with 1 if one does not hold; from 20 worlds on, "
    "also if one is left open. "
)
# Experiments and tables whose results chapters draw or print, world by world.
DRAWN = (
    "beside-nuts",
    "chapter4-parts",
    "gap-bands",
    "network-bandits",
    "refits",
    "three-kinds-on-clothes",
    "three-kinds-on-digits",
)

Worlds = Callable[[Experiment], Sequence[Mapping[str, float]]]  # results of each of some worlds


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.epilog, add = JUDGED + KEPT, parser.add_argument
    add("ids", nargs="*", type=_known_id, metavar="ID", help="of a claim, or such as 'pbp-*'")
    add("--list", action="store_true", help="say what is claimed; run nothing")
    add("--table", choices=("rivals",), help="instead: all methods beside NUTS, and their times")
    add("--worlds", type=partial(count, least=1), default=ENOUGH, metavar="N", help="default 20")
    add("--first-world", type=count, default=0, metavar="N", help="number of the first; default 0")
    often = "say, too, how often 20 worlds like these would not bear a claim out"
    add("--chance", action="store_true", help=often)
    add_running(parser)


def run(options: argparse.Namespace) -> int:
    """Run the command and return its exit code.

    It is 1 if a world failed, or if a claim does not hold or is still open after 20 worlds.
    """
    ids = {one for one in claim.claims() if any(fnmatchcase(one, p) for p in options.ids or "*")}
    if options.list:
        print_list(ids)
        return 0
    if options.store and (options.worlds < ENOUGH or options.first_world):
        report.say(f"--store: expected worlds 0 to {ENOUGH - 1} and maybe more")
        return 2
    code = run_rivals(options) if options.table else run_claims(ids, options)
    if options.store:
        store()
    return code


def _known_id(text: str) -> str:
    """Return ``text`` if it is a claim's id or a pattern that matches one; else raise an error."""
    ids = claim.claims()
    if not any(fnmatchcase(one, text) for one in ids):
        close = difflib.get_close_matches(text, ids, n=3, cutoff=0.3) or list(ids)[:3]
        some = ", ".join(close)
        raise argparse.ArgumentTypeError(f"expected the id of a claim ({some}), got {text}")
    return text


def print_list(ids: Collection[str]) -> None:
    """Print what the claims with these ids say and ask for."""
    for about, experiments in claim.topics():
        here = [c for one in experiments for c in one.claims if c.id in ids]
        if here:
            print(f"{about}\n")
        for c in here:
            asked = c.rule.in_words(c.unit)
            print(f"  {c.id}\n    {c.sentence}\n    {c.measure}: {asked}\n")


def run_claims(ids: Collection[str], options: argparse.Namespace) -> int:
    """Measure, judge and print the claims with these ids; return the exit code of the command."""
    failed, worlds = False, dict[str, Sequence[Mapping[str, float]]]()
    for experiment in resting_on(ids):
        done = in_worlds(experiment, options)
        failed |= bool(done.report())
        worlds[experiment.name] = list(done.figures.values())
    findings = judged(ids, lambda experiment: worlds[experiment.name])
    print(as_text(findings, chances=options.chance))
    if options.csv:
        write_whole(options.csv, findings_as_csv(findings))
    return int(failed or any(finding.falls for finding in findings))


def in_worlds(experiment: Experiment, options: argparse.Namespace) -> Any:
    """Run an experiment in the worlds that the options ask for; return ``results.Done``."""
    from evidence import results  # needs more than the standard library

    numbers = range(options.first_world, options.first_world + options.worlds)
    tasks = [Task(f"world-{n:04}", {"world": n}) for n in numbers]
    run = partial(in_world, experiment.trial)
    return results.finish(experiment.name, run, experiment.source, tasks, options)


def in_world(run: Callable[[World], Mapping[str, float]], world: int) -> Mapping[str, float]:
    """Call an experiment's function in the world with this number."""
    return run(World(world))


def judged(ids: Collection[str], worlds: Worlds) -> list[Finding]:
    """Return a finding for each claim; ``worlds(experiment)`` returns a result for each world."""
    return [
        judge(claim, [claim.effect(figures) for figures in seen])
        for one in resting_on(ids)
        for seen in [worlds(one)]
        for claim in one.claims
        if claim.id in ids
    ]


def resting_on(ids: Collection[str]) -> list[Experiment]:
    """Return the experiments that measure the claims with these ids."""
    return [one for one in claim.experiments() if any(claim.id in ids for claim in one.claims)]


def as_text(findings: Sequence[Finding], *, chances: bool = False) -> str:
    """Return a table of findings, then the claims that do not hold or stay open after 20 worlds.

    ``chances`` adds a column with the probability that a claim fails by chance.
    """
    heads = ["claim", "effect ± SE", "asked for", "worlds", "verdict"]
    body = [
        [f.claim.id, f.effect, f.asked, f"{f.n_met} of {len(f.effects)}", f.verdict]
        for f in findings
    ]
    if chances:
        heads.append("fails by chance")
        for row, finding in zip(body, findings, strict=True):
            row.append(f"{100 * chance(finding):.1f} %")
    fallen = [f'{f.claim.id}, {f.verdict}: "{f.claim.sentence}"' for f in findings if f.falls]
    return "\n".join([report.table(heads, body), *([""] if fallen else []), *fallen])


def findings_as_csv(findings: Sequence[Finding]) -> str:
    """Return findings as the text of a CSV file, one claim a line, with all digits."""
    from evidence.results import as_csv

    lines = [[finding.claim.id, *finding.stored.values()] for finding in findings]
    return as_csv([package.Verdict._fields, *lines])


# What the package keeps of the results that come with the checkout


def store() -> None:
    """Write the package's file of verdicts, from the results that come with the checkout."""
    write_whole(package.FILE, contents())
    package.stored.cache_clear()


def contents() -> str:
    """Return the text of that file: a verdict, or null, for each claim; figures; hashes."""
    from evidence import results

    kept = {path.stem: results.read(path) for path in sorted(results.FOLDER.glob("*.csv"))}
    known = {one.name: one for one in claim.experiments() if one.name in kept}
    with_results = [c.id for one in known.values() for c in one.claims]
    found = judged(with_results, lambda one: list(kept[one.name].figures.values()))
    verdicts: dict[str, Any] = dict.fromkeys(claim.claims())
    verdicts |= {finding.claim.id: finding.stored for finding in found}
    figures = {name: _columns(kept[name].figures) for name in DRAWN if name in kept}
    sources = {name: kept[name].source for name in known}
    parts = {"verdicts": verdicts, "figures": figures, "sources": sources}
    return "{" + ",\n".join(f'"{name}": {_lines(part)}' for name, part in parts.items()) + "}\n"


def _columns(figures: Mapping[str, Mapping[str, float]]) -> dict[str, Any]:
    names = list(dict.fromkeys(name for one in figures.values() for name in one))
    rows = {task: [one.get(name) for name in names] for task, one in figures.items()}
    return {"names": names, "rows": rows}


def _lines(part: Mapping[str, Any]) -> str:
    """Return a mapping as JSON with a line for each item."""
    items = (f"{json.dumps(k)}: {json.dumps(v, ensure_ascii=False)}" for k, v in part.items())
    return "{\n" + ",\n".join(items) + "\n}"


def stale() -> list[str]:
    """Return the names of experiments whose code is not the one that the package's file is of."""
    sources = package.stored()["sources"]
    return [e.name for e in claim.experiments() if sources.get(e.name, e.source) != e.source]


# The table that compares all methods with NUTS


def run_rivals(options: argparse.Namespace) -> int:
    """Measure and print the comparison of all methods with NUTS; return 1 if a world failed."""
    from bdl_teach.claims import rivals
    from evidence import results
    from evidence.measured import beside_nuts

    (experiment,) = (one for one in claim.experiments() if one.name == rivals.EXPERIMENT)
    worlds = in_worlds(experiment, options)
    if not worlds.figures:
        return int(worlds.report())
    run = partial(in_world, beside_nuts.milliseconds)  # here, where no other world runs now
    source = hash_of(beside_nuts.__name__, "milliseconds")
    task = Task("milliseconds", {"world": options.first_world})
    times = results.finish("refits", run, source, [task], options)
    if times.report():
        return 1
    table = rivals.Rivals(list(worlds.figures.values()), times.figures["milliseconds"])
    print(rivals.as_text(table), table.converged, *rivals.NOTES, sep="\n")
    if options.csv:
        lines = [rivals.heads(tuple(rivals.COLUMNS)), *rivals.cells(table, tuple(rivals.COLUMNS))]
        write_whole(options.csv, results.as_csv(lines))
    return int(worlds.report())

"""python -m sim: run a scenario, write its [expect] table, examine its cuts, compare algorithms, explore all runs.
Further commands run a COS 418 case, size snapshots, and list scenarios, algorithms and workloads.

Exit status: 0 done. 1: an expectation is not met, an undeclared check fails, some run breaks a check, or a line of a
.snap file is not as expected. 2: bad input, with one line on stderr.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from sim.core.algorithm import ALGORITHMS
from sim.core.broken_rule import BROKEN_RULES
from sim.core.detector import DETECTORS
from sim.core.errors import InputError
from sim.core.parameters import Parameter
from sim.core.workload import WORKLOADS
from sim.document import library
from sim.document.command_line import Parser, answer
from sim.document.files import decode, read_file
from sim.edit.compared import all_compared
from sim.edit.comparison_report import comparison_in_words, comparison_report
from sim.exchange import cos418
from sim.exchange.cut_report import cuts_in_words, cuts_report
from sim.exchange.interchange_report import interchange_in_words, interchange_report
from sim.exchange.snap_files import compare
from sim.explain.domino import FAILED_HELP, recoveries_report, recovery_in_words, with_failed
from sim.explain.narration import sentences
from sim.explain.properties import properties_in_words
from sim.explain.sizing import sizing_in_words
from sim.explore import command as explore_command
from sim.explore.progress import Progress
from sim.explore.report import exploration
from sim.explore.search import MOST_STATES
from sim.run.execution import Execution, run
from sim.run.references import notes
from sim.run.snapshots import snapshots_of
from sim.theory.sizing import usual_estimate
from sim.theory.sizing_inputs import CHOICES, INPUTS, System
from sim.verify.checks import verdicts_of
from sim.verify.expectations import unmet_expectations
from sim.verify.stable import properties_of
from sim.verify.write_expectations import expectations_of, rewritten, written

Commands: TypeAlias = "argparse._SubParsersAction[Parser]"  # the class takes no parameter at run time


def report(execution: Execution) -> dict[str, Any]:
    """The JSON document that `run --json` prints. `properties` are there where the workload has stable properties."""
    verdicts = verdicts_of(execution)
    algorithm, engine = execution.scenario.algorithm, execution.engine
    properties = properties_of(execution)
    return {
        "scenario": execution.scenario.name,
        "steps": execution.steps,
        "snapshots": [
            snapshot.to_json(algorithm, [verdict._asdict() for verdict in verdicts[snapshot.id]])
            for snapshot in snapshots_of(execution)
        ],
        "final": {
            "processes": {process.name: process.state for process in execution.final.processes},
            "channels": {
                channel.name: [message.body for message in engine.messages_in(execution.final, channel)]
                for channel in engine.channels
            },
        },
        **({"properties": [own.to_json() for own in properties]} if properties else {}),
    }


def _run(arguments: argparse.Namespace) -> int:
    execution = run(with_failed(library.find(arguments.scenario), arguments.failed))
    problems = unmet_expectations(execution)
    if arguments.json:
        lines = {} if arguments.failed is None else {"recovery_lines": recoveries_report(execution)}
        print(json.dumps({**report(execution), **lines}, ensure_ascii=False))
    else:
        for number, sentence in enumerate(sentences(execution)):
            print(f"{number:4}  {sentence}")
        for told in recovery_in_words(execution):
            print(told)
        for own in properties_of(execution):
            print("\n".join(properties_in_words(execution, own)))
    for told in (*problems, *notes(execution)):
        print(f"{execution.scenario.name}: {told}", file=sys.stderr)
    return 1 if problems else 0


def _expect(arguments: argparse.Namespace) -> int:
    execution = run(library.find(arguments.scenario))
    expect = expectations_of(execution)
    if not arguments.write:
        print(written(expect), end="")
        return 0
    path = library.path_of(arguments.scenario)
    before = read_file(path).decode("utf-8")
    after = rewritten(before, expect, path.name)
    if after == before:
        print(f"{path}: [expect] says so already")
        return 0
    try:
        path.write_bytes(after.encode("utf-8"))
    except OSError as problem:
        raise InputError(f"{path}: cannot be written ({problem.strerror}); copy it to a folder of yours") from None
    print(f"{path}: [expect] is rewritten; keep it only if you understand what changed")
    return 0


def _cuts(arguments: argparse.Namespace) -> int:
    found = cuts_report(run(library.find(arguments.scenario)), arguments.possibly, arguments.definitely)
    print(json.dumps(found, ensure_ascii=False) if arguments.json else "\n".join(cuts_in_words(found)))
    for question in ("possibly", "definitely"):
        if "problem" in found.get(question, {}):
            print(found[question]["problem"], file=sys.stderr)
    return 0


def _interchange(arguments: argparse.Namespace) -> int:
    found = interchange_report(run(library.find(arguments.scenario)), arguments.snapshot)
    print(json.dumps(found, ensure_ascii=False) if arguments.json else "\n".join(interchange_in_words(found)))
    return 0


def _compare(arguments: argparse.Namespace) -> int:
    names = [name.strip() for name in arguments.algorithms.split(",")]
    found = all_compared(library.find(arguments.scenario), names)
    if arguments.json:
        print(json.dumps([comparison_report(own) for own in found], ensure_ascii=False))
    else:
        print("\n".join(comparison_in_words(found)))
    return 0


def _explore(arguments: argparse.Namespace) -> int:
    progress = Progress()
    done = exploration(
        explore_command.asked(arguments), own_order=arguments.own_order, symmetry=arguments.symmetry,
        most_states=arguments.max_states, progress=progress, may=explore_command.may_happen(arguments),
    )  # fmt: skip
    progress.end()
    return explore_command.tell(done, arguments)


def _cos418(arguments: argparse.Namespace) -> int:
    top, events = Path(arguments.top), Path(arguments.events)
    delays = _delays(Path(arguments.delays)) if arguments.delays else None
    files = (top.name, events.name, Path(arguments.delays or "").name)
    scenario = cos418.read_case(_text(top), _text(events), delays, arguments.seed, events.stem, files)
    execution = run(scenario)
    texts = cos418.snap_texts(execution)
    if arguments.out:
        out = Path(arguments.out)
        try:
            out.mkdir(parents=True, exist_ok=True)
            for number, text in enumerate(texts):
                (out / f"{events.stem}{number if len(texts) > 1 else ''}.snap").write_text(text)
        except OSError as problem:
            raise InputError(f"{out}: cannot be written ({problem.strerror}); name a folder of yours") from None
    if arguments.trace:
        print("\n".join(cos418.trace(execution)))
    found = compare(execution, {name: _text(Path(name)) for name in arguments.expected})
    for comparison in found:
        print(comparison.in_words)
        for line in comparison.lines:
            if not line.agrees:
                where = f"line {line.number}" if line.number else "one line more"
                print(f"  {where}: expected {line.expected or 'nothing'}, found {line.found or 'nothing'}")
    return 0 if all(comparison.agrees for comparison in found) else 1


def _text(path: Path) -> str:
    return decode(read_file(path), path.name)


def _delays(path: Path) -> list[float]:
    return cos418.read_delays(_text(path), path.name)


def _sizing(arguments: argparse.Namespace) -> int:
    system = System.read({name: getattr(arguments, name) for name in (*INPUTS, *CHOICES)})
    print(json.dumps(usual_estimate(system)) if arguments.json else "\n".join(sizing_in_words(system)))
    return 0


def _list(arguments: argparse.Namespace) -> int:
    print("scenarios")
    for name in library.names():
        print(f"  {name:28} {library.load(name).title}")
    print("algorithms")
    for name in ALGORITHMS:
        print(f"  {name:28} {ALGORITHMS[name].title} ({ALGORITHMS[name].source})")
        _list_parameters(ALGORITHMS[name].parameters)
    print('broken rules (in a scenario: breaks = ["fifo"]; in the app: the tab Break it)')
    for rule in sorted((BROKEN_RULES[name] for name in BROKEN_RULES), key=lambda rule: rule.order):
        print(f"  {rule.name:28} {rule.switch}")
    print("workloads")
    for name in WORKLOADS:
        print(f"  {name:28} {WORKLOADS[name].title}")
        _list_parameters(WORKLOADS[name].parameters)
    print("stable properties")
    for name in DETECTORS:
        print(f"  {name:28} {DETECTORS[name].title}, of {', '.join(DETECTORS[name].workloads)}")
    return 0


def _list_parameters(parameters: Mapping[str, Parameter]) -> None:
    for parameter, spec in parameters.items():
        print(f"    {parameter:26} {spec.help}")


def _add_runs(commands: Commands) -> None:
    """Add the commands that run one scenario."""
    command = commands.add_parser("run", help="run a scenario: a path, or the name of a bundled one")
    command.add_argument("scenario", metavar="SCENARIO")
    command.add_argument("--json", action="store_true", help="one JSON document instead of a sentence per step")
    command.add_argument("--failed", metavar="P1,P2", help=FAILED_HELP)
    command.set_defaults(act=_run)
    command = commands.add_parser("expect", help="print the [expect] table that a scenario meets as it runs now")
    command.add_argument("scenario", metavar="SCENARIO")
    command.add_argument("--write", action="store_true", help="put it in the place of the one in the file, to be read")
    command.set_defaults(act=_expect)


def _add_questions(commands: Commands) -> None:
    """Add the commands that ask about the cuts of one run."""
    command = commands.add_parser("cuts", help="count the cuts of a run, and ask whether a predicate may or must hold")
    command.add_argument("scenario", metavar="SCENARIO")
    for modality, words in (("possibly", "some consistent cut"), ("definitely", "every order of the run at some cut")):
        command.add_argument(f"--{modality}", metavar="EXPR", help=f"whether {words} has this, such as P1.events == 2")
    command.add_argument("--json", action="store_true", help="one JSON document")
    command.set_defaults(act=_cuts)
    command = commands.add_parser("interchange", help="interchange actions until the run meets a snapshot's state")
    command.add_argument("scenario", metavar="SCENARIO")
    command.add_argument("--snapshot", metavar="ID", help="default: the first one that every process has recorded")
    command.add_argument("--json", action="store_true", help="one JSON document")
    command.set_defaults(act=_interchange)


def _add_many_runs(commands: Commands) -> None:
    """Add the commands that run a scenario in several ways."""
    about = "run a scenario under several algorithms, and measure what each costs"
    command = commands.add_parser("compare", help=about)
    command.add_argument("scenario", metavar="SCENARIO")
    command.add_argument("--algorithms", metavar="A,B,C", default=",".join(ALGORITHMS), help="default: all")
    command.add_argument("--json", action="store_true", help="one JSON document: a list with an entry for each")
    command.set_defaults(act=_compare)
    command = commands.add_parser("explore", help="try every order of the actions, and find the shortest wrong run")
    explore_command.add_options(command, MOST_STATES)
    explore_command.add_faults(command)
    about = "of states that differ only in the names of interchangeable processes, explore one"
    command.add_argument("--symmetry", action="store_true", help=about)
    command.set_defaults(act=_explore)


def _add_cos418(commands: Commands) -> None:
    """Add the command for cases of COS 418."""
    command = commands.add_parser("cos418", help="answer a case of Princeton's COS 418 snapshot assignment")
    command.add_argument("top", metavar="CASE.top")
    command.add_argument("events", metavar="CASE.events")
    source = command.add_mutually_exclusive_group()
    source.add_argument("--delays", metavar="D.json", help="a JSON list: one delay per message, in the order sent")
    source.add_argument("--seed", type=int, default=0, help="draw the delays (0 to 4 ticks) from this seed")
    command.add_argument("--out", metavar="DIR", help="where CASE.snap, or CASE0.snap, CASE1.snap, ... are written")
    about = "compare these files with the snapshots, line by line"
    command.add_argument("--expected", nargs="+", default=[], metavar="X.snap", help=about)
    command.add_argument("--trace", action="store_true", help="print time, tokens and text of every event")
    command.set_defaults(act=_cos418)


def _add_sizing(commands: Commands) -> None:
    """Add the command for the sizes of snapshots."""
    command = commands.add_parser("sizing", help="how large snapshots get: channels, messages, bytes, time to recover")
    for name, wanted in INPUTS.items():
        flag, told = f"--{name.replace('_', '-')}", f"{wanted.help} (default: {wanted.first:g})"
        command.add_argument(flag, default=wanted.first, help=told, metavar="NUMBER")
    for name, (first, *others) in CHOICES.items():
        command.add_argument(f"--{name}", default=first, help=f"{', '.join((first, *others))} (default: {first})")
    command.add_argument("--json", action="store_true", help="the usual estimate as one JSON document")
    command.set_defaults(act=_sizing)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command in `arguments` (default: the command line). Return the exit status."""
    parser = Parser(prog="python -m sim", description="Simulate distributed snapshots.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for add in (_add_runs, _add_questions, _add_many_runs, _add_cos418, _add_sizing):
        add(commands)
    command = commands.add_parser("list", help="the scenarios, algorithms, workloads and stable properties there are")
    command.set_defaults(act=_list)
    return answer(parser, arguments)


if __name__ == "__main__":
    sys.exit(main())

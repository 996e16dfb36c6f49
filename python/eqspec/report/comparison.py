"""Two runs side by side: which tasks got worse or better, which take longer, which are new, which are gone.

A task of one run is that of the other with the same id in the same spec file. Where no task is found so, because the
runs were started from different places, files count as seen from the folder that all of a run are in. Results that were
joined and share an id go together in their order. What is left in both runs is one task under two names where it alone
asks the same of networks of the same names on the same region: a check that was renamed is judged like any other.

Worse and better follow the outcome: as expected, then undecided, then not as expected or failed. A search gets worse
where a value that it had proved is refuted now, which no noise can do. Times are compared where both runs decided and
both searched; how fast the machine was is taken out, by the median of all ratios.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from fractions import Fraction
from statistics import median
from typing import TypeAlias

from eqspec.lazy_dataclass import dataclass
from eqspec.report.numbers import count, duration, plural, value
from eqspec.report.outcome import Outcome, outcome, place, without_common_folder
from eqspec.report.table import bracket_in_words
from eqspec.tasks.bracket import Bracket
from eqspec.tasks.result import Result
from eqspec.tasks.verdict import Verdict

_RANK = {Outcome.PASSED: 0, Outcome.UNDECIDED: 1, Outcome.FAILED: 2, Outcome.BROKEN: 2}
_SLOWER = 2.0
_SECONDS = 1.0
"""A task is slower from twice its time and a second more on: what a busy machine does to a single task is less."""
_FEWEST_RATIOS = 8
"""The fewest tasks from which the median of their ratios of times says how fast the machine was."""
_USUAL = (0.8, 1.25)
"""A median ratio between these is within the usual noise and not mentioned."""
_COUNTED = {
    "worse": "worse",
    "other": "with another verdict",
    "slower": "slower",
    "better": "better",
    "renamed": "renamed",
    "new": "new",
    "gone": "gone",
    "same": "the same",
}
_SHORTEST = 0.1
"""Times below this many seconds are not compared: they say more about the machine than about the task."""

_Key: TypeAlias = "tuple[str, str, int]"


class Kind(StrEnum):
    """What became of a task from one run to the next, the most pressing first."""

    WORSE = "worse"
    OTHER = "other"
    """The verdict is another one, and neither better nor worse: the spec expects something else now."""
    SLOWER = "slower"
    BETTER = "better"
    RENAMED = "renamed"
    """The same outcome, under another name."""
    NEW = "new"
    GONE = "gone"
    SAME = "same"
    """The same verdict in about the same time."""


@dataclass(frozen=True)
class Change:
    """One task in both runs. `before` is None for a new one, `after` for one that is gone."""

    kind: Kind
    before: Result | None
    after: Result | None

    @property
    def result(self) -> Result:
        """The result that there is, the later one of two."""
        found = self.after or self.before
        assert found is not None
        return found

    @property
    def words(self) -> str:
        """The earlier outcome and the later one, in words."""
        match self.before, self.after:
            case Result() as before, Result() if self.kind is Kind.RENAMED:
                return f"was called {before.id}"
            case Result() as before, Result() as after if self.kind is Kind.SLOWER:
                return f"took {duration(after.seconds)}, before {duration(before.seconds)}"
            case Result() as before, Result() as after:
                was, now = _standing(before), _standing(after)
                if was == now:
                    was, now = _expecting(before, was), _expecting(after, now)
                return f"was {was}; now {now}"
            case Result() as before, None:
                return f"was {_standing(before)}; not in this run"
            case _:
                return f"{_standing(self.result)}; not in the earlier run"

    @property
    def asked(self) -> str:
        """What else is different about the question: files and claims; empty if nothing is known to be."""
        if self.before is None or self.after is None:
            return ""
        old, new = self.before.networks, self.after.networks
        said = [
            f"{network.get('name') or role} is another file than before"
            for role, network in new.items()
            if old.get(role, {}).get("sha256") not in (None, network.get("sha256"))
        ]
        limits = [result.settings.get("timeout") for result in (self.before, self.after)]
        if limits[0] != limits[1]:
            said.append(f"time limit {' before, now '.join(map(_limit, limits))}")
        if self._moved:
            said.append("the region is another one than before")
        if self.before.id != self.after.id and self.kind is not Kind.RENAMED:
            said.append(f"it was called {self.before.id}")
        if self.before.claim != self.after.claim:
            said.append(f"the claim was: {self.before.claim}")
        return "; ".join(said)

    @property
    def _moved(self) -> bool:
        """Whether the regions of both results, both of them known, are different ones."""
        old, new = (None if r is None else r.question for r in (self.before, self.after))
        if old is None or new is None:
            return False
        return (old.ranges, old.constraints, old.points) != (new.ranges, new.constraints, new.points)


@dataclass(frozen=True)
class Comparison:
    """`against` names the earlier run. `pace` is the median of the ratios of times, None where too few tell it."""

    against: str
    tasks: tuple[Change, ...]
    pace: float | None

    @property
    def changes(self) -> tuple[Change, ...]:
        """The tasks that are not what they were, the most pressing first."""
        return tuple(sorted((t for t in self.tasks if t.kind is not Kind.SAME), key=lambda t: list(Kind).index(t.kind)))

    def of(self, kind: Kind) -> tuple[Change, ...]:
        """The tasks of a kind, in the order of the later run."""
        return tuple(task for task in self.tasks if task.kind is kind)

    def listed(self, kind: Kind, most: int) -> tuple[tuple[Change, ...], int]:
        """Those of a kind that a person is shown, and how many more there are; verdicts that changed are all shown."""
        found = self.of(kind)
        told = found if kind in (Kind.WORSE, Kind.OTHER) else found[:most]
        return told, len(found) - len(told)

    @property
    def worse(self) -> bool:
        """Whether the verdict of any task got worse."""
        return any(task.kind is Kind.WORSE for task in self.tasks)

    @property
    def summary(self) -> str:
        """In one line: 29 tasks compared with old.json: 1 worse, 2 new, 26 the same."""
        counts = [f"{count(n)} {_COUNTED[kind]}" for kind in Kind if (n := len(self.of(kind)))]
        line = f"{plural(len(self.tasks), 'task')} compared with {self.against}"
        line += f": {', '.join(counts)}" if counts else ""
        if self.pace is None or _USUAL[0] < self.pace < _USUAL[1]:
            return line
        return f"{line}; the median task takes {value(round(self.pace, 2))} times as long as it did"


def compare(before: Sequence[Result], after: Sequence[Result], against: str = "the earlier run") -> Comparison:
    """What changed from a run to a later one; every task of either is there once."""
    pairs, gone = _paired(before, after)
    pace = _pace((old, now) for old, now in pairs if old is not None)
    tasks = [
        Change(Kind.NEW, None, now) if old is None else Change(_kind(old, now, pace), old, now) for old, now in pairs
    ]
    return Comparison(against, (*tasks, *(Change(Kind.GONE, result, None) for result in gone)), pace)


def _paired(
    before: Sequence[Result], after: Sequence[Result]
) -> tuple[list[tuple[Result | None, Result]], list[Result]]:
    """The tasks of the later run, in order, with what they were; and those of the earlier one that are gone."""
    known = dict(zip(_keys(before, whole=True), before, strict=True))
    keys = _keys(after, whole=True)
    if not known.keys() & set(keys):
        known = dict(zip(_keys(before, whole=False), before, strict=True))
        keys = _keys(after, whole=False)
    pairs = [(known.pop(key, None), result) for key, result in zip(keys, after, strict=True)]
    renamed = _renamed(known, {key: now for key, (old, now) in zip(keys, pairs, strict=True) if old is None})
    pairs = [
        (known.pop(renamed[key]) if key in renamed else old, now) for key, (old, now) in zip(keys, pairs, strict=True)
    ]
    return pairs, list(known.values())


def _renamed(gone: Mapping[_Key, Result], new: Mapping[_Key, Result]) -> dict[_Key, _Key]:
    """New keys with the gone ones that they had before: those that alone in both runs ask one question."""
    asked = [_by_question(results) for results in (gone, new)]
    shared = [question for question in asked[1] if len(asked[0].get(question, ())) == len(asked[1][question]) == 1]
    return {asked[1][question][0]: asked[0][question][0] for question in shared}


def _by_question(results: Mapping[_Key, Result]) -> dict[object, list[_Key]]:
    """Keys by everything that is known of the question but its name; results that do not say it are left out."""
    found: dict[object, list[_Key]] = {}
    for key, result in results.items():
        if (asked := result.question) is None or not result.claim:
            continue
        networks = tuple(sorted((role, network.get("name")) for role, network in result.networks.items()))
        search = None if result.find is None else (result.find.variable, result.find.direction)
        region = (asked.ranges, asked.left_out, asked.constraints, asked.points, asked.row, asked.arithmetic)
        what = (key[0], result.claim, tuple(sorted(result.parameters.items())), networks, search, region)
        found.setdefault(what, []).append(key)
    return found


def _keys(results: Sequence[Result], *, whole: bool) -> list[_Key]:
    """What each task is found by: its file, its id, and which one of that name it is.

    Unless files are wanted as a `whole`, they are named as seen from the folder that all of them are in.
    """
    files = [where[0] if (where := place(result)) else "" for result in results]
    different = list(dict.fromkeys(filter(None, files)))
    shown = different if whole else without_common_folder(different)
    called = {"": "", **dict(zip(different, shown, strict=True))}
    seen: dict[tuple[str, str], int] = {}
    keys = []
    for file, result in zip(files, results, strict=True):
        name = (called[file], result.id)
        seen[name] = seen.get(name, 0) + 1
        keys.append((*name, seen[name]))
    return keys


def _kind(before: Result, after: Result, pace: float | None) -> Kind:
    was, now = outcome(before), outcome(after)
    if _RANK[was] != _RANK[now]:
        return Kind.WORSE if _RANK[now] > _RANK[was] else Kind.BETTER
    if before.find is not None and after.find is not None and _same_search(before.find, after.find):
        if _newly_refuted(before.find, after.find):
            return Kind.WORSE
        if _newly_refuted(after.find, before.find):
            return Kind.BETTER
    if (was, before.verdict, before.vacuous) != (now, after.verdict, after.vacuous):
        return Kind.OTHER
    if _slower(before, after, pace):
        return Kind.SLOWER
    return Kind.SAME if before.id == after.id else Kind.RENAMED


def _same_search(one: Bracket, other: Bracket) -> bool:
    return (one.variable, one.direction) == (other.variable, other.direction)


def _newly_refuted(before: Bracket, after: Bracket) -> bool:
    """Whether a value that was proved is refuted now, and was not then."""
    value = before.proved
    return value is not None and _refutes(after, value) and not _refutes(before, value)


def _refutes(bracket: Bracket, value: Fraction) -> bool:
    """Whether a bracket refutes the claim at a value: what breaks at one value breaks at every harder one."""
    if bracket.refuted is None:
        return False
    return bracket.refuted <= value if bracket.direction == "largest" else bracket.refuted >= value


def _searched(before: Result, after: Result) -> bool:
    """Whether the times of two results can be compared: both decided, in these very runs, from the beginning."""
    return not any(r.verdict is Verdict.UNKNOWN or r.cached or r.resumed for r in (before, after))


def _pace(pairs: Iterable[tuple[Result, Result]]) -> float | None:
    ratios = [
        after.seconds / before.seconds
        for before, after in pairs
        if _searched(before, after) and min(before.seconds, after.seconds) >= _SHORTEST
    ]
    return median(ratios) if len(ratios) >= _FEWEST_RATIOS else None


def _slower(before: Result, after: Result, pace: float | None) -> bool:
    if not _searched(before, after):
        return False
    usual = before.seconds * max(pace or 1.0, 1.0)
    return after.seconds >= max(_SLOWER * usual, usual + _SECONDS)


def _limit(seconds: object) -> str:
    return duration(float(seconds)) if isinstance(seconds, int | float) else "none"


def _standing(result: Result) -> str:
    """The verdict, with the bracket of a search."""
    if outcome(result) is Outcome.BROKEN:
        return f"failed: {result.message}" if result.message else "failed"
    word = "vacuous" if result.vacuous else result.verdict.value
    if result.find is not None:
        return f"{word} ({bracket_in_words(result.find)})"
    return f"{word} ({result.reason})" if result.reason is not None else word


def _expecting(result: Result, word: str) -> str:
    return f"{word}, expected {result.expected or 'equivalent'}"

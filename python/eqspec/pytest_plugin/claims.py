"""Specs as pytest sees them: a file is a collector, a task or a search is a test, its expectation the assertion.

A test passes only if `Result.as_expected` is True. Undecided is never a pass: it fails, or is reported as xfailed or
skipped where the user says so.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from eqspec.api.cache_choice import comparisons_kept
from eqspec.api.spec import Spec, load
from eqspec.errors import EqspecError, SpecError
from eqspec.lazy_dataclass import dataclass
from eqspec.pytest_plugin.session_options import Settings
from eqspec.report import diagnostics, failure, numbers, table
from eqspec.tasks.result import Result
from eqspec.tasks.search import Search
from eqspec.tasks.task import Task

_MEANING_SOMETHING = frozenset({"skip", "skipif", "xfail", "parametrize", "usefixtures", "filterwarnings", "timeout"})
"""Marks that change what a test does: a tag of such a name does not become one."""
_SETTINGS = pytest.StashKey[Settings]()


class SpecWarning(UserWarning):
    """What was noticed in a spec that can be used all the same."""


class SpecFile(pytest.File):
    """A spec. What is wrong with it is a collection error that shows the findings with their carets."""

    def collect(self) -> Iterator[Claim]:
        """One test for each task, then one for each search, as `eqspec check` runs them."""
        settings = settings_of(self.config)
        try:
            with comparisons_kept(settings.cache):
                spec = load(_shown(self.path, self.config), settings.params)
        except SpecError as problem:
            text = diagnostics.of_error(problem, _width(self.config)).plain
            raise self.CollectError(text.rstrip()) from None
        except EqspecError as problem:
            raise self.CollectError(f"error: {problem}") from None
        for finding in spec.warnings:
            try:
                self.warn(SpecWarning(f"{finding.code}: {finding.message} ({finding.span or self.path.name})"))
            except SpecWarning:  # under -W error
                raise self.CollectError(diagnostics.plain([finding], width=_width(self.config)).rstrip()) from None
        for item in spec.select():
            yield Claim.from_parent(self, name=item.id, spec=spec, task=item)


class Claim(pytest.Item):
    """One task or search."""

    def __init__(self, *, spec: Spec, task: Task | Search, **node: Any) -> None:
        super().__init__(**node)
        self.spec, self.task = spec, task
        self.eqspec_result: dict[str, Any] | None = None
        self.add_marker(pytest.mark.eqspec)
        for tag in task.tags:
            self._mark(tag)

    def _mark(self, tag: str) -> None:
        if tag in _MEANING_SOMETHING or tag.startswith("_"):
            self.extra_keyword_matches.add(tag)
            return
        known = {line.split(":")[0].split("(")[0].strip() for line in self.config.getini("markers")}
        if tag not in known:
            self.config.addinivalue_line("markers", f"{tag}: a tag of {self.path.name}")
        self.add_marker(tag)

    def runtest(self) -> None:
        """Decide the task and compare with what is expected."""
        settings = settings_of(self.config)
        options = settings.options_for(self.task.budget)
        report = self.spec.run([self.task], options, jobs=1, cache=settings.cache, engine=settings.engine)
        for _, error in report.failures:
            if not isinstance(error, EqspecError):
                raise error  # a defect of eqspec, which deserves its traceback
        if report.interrupted or not report:
            raise KeyboardInterrupt
        self._record(report[0])
        match report[0].as_expected:
            case False:
                raise ClaimError(report[0])
            case None if settings.unknown == "xfail":
                pytest.xfail(failure.headline(report[0]))
            case None if settings.unknown == "skip":
                pytest.skip(failure.headline(report[0]))
            case None:
                raise ClaimError(report[0])

    def _record(self, result: Result) -> None:
        """What reports can show: properties for JUnit files, and of what passes a section that `pytest -rP` prints."""
        self.eqspec_result = result.to_json()
        found = {
            "verdict": result.verdict.value,
            "reason": result.reason.value if result.reason else None,
            "certified": result.certified_fraction,
            "boxes": result.boxes,
            "answer": None if result.find is None else table.bracket_in_words(result.find),
        }
        self.user_properties += [(f"eqspec_{name}", value) for name, value in found.items() if value is not None]
        if not result.as_expected:
            return
        boxes = f"{numbers.count(result.boxes)} {'box' if result.boxes == 1 else 'boxes'}"
        words = [result.verdict.value, numbers.duration(result.seconds), boxes, table.remark(result).plain]
        self.add_report_section("call", "eqspec", ", ".join(filter(None, words)))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """The explanation of the result instead of a traceback; whatever else went wrong as pytest shows it."""
        if not isinstance(excinfo.value, ClaimError):
            return super().repr_failure(excinfo, style)
        text = failure.explanation(excinfo.value.result, _width(self.config))
        span = self.task.source
        crash = _Crash(str(self.path), span.line if span else 1, failure.headline(excinfo.value.result))
        return _Explanation(text, crash)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """The check's place in its file, from 0, and the id of the task."""
        return self.path, self.task.source.line - 1 if self.task.source else None, self.name


class ClaimError(AssertionError):
    """A claim that did not come out as expected, or stayed undecided."""

    def __init__(self, result: Result) -> None:
        self.result = result
        super().__init__(failure.headline(result))


@dataclass(frozen=True)
class _Crash:
    """Where a test failed and why, in one line; pytest's short summary and JUnit files show `message`."""

    path: str
    lineno: int
    message: str


@dataclass(frozen=True)
class _Explanation:
    """What pytest prints for a failure."""

    text: str
    reprcrash: _Crash

    def __str__(self) -> str:
        return self.text

    def toterminal(self, tw: Any) -> None:
        """The first line stands out."""
        first, _, rest = self.text.partition("\n")
        tw.line(first, red=True, bold=True)
        tw.line(rest)


def settings_of(config: pytest.Config) -> Settings:
    """The settings of this run, read once."""
    if _SETTINGS not in config.stash:
        config.stash[_SETTINGS] = Settings.of(config)
    return config.stash[_SETTINGS]


def _shown(path: Path, config: pytest.Config) -> str:
    """A path as the user knows it: from where pytest was called."""
    here = config.invocation_params.dir
    return str(path.relative_to(here)) if path.is_relative_to(here) and here == Path.cwd() else str(path)


def _width(config: pytest.Config) -> int:
    return int(config.get_terminal_writer().fullwidth)

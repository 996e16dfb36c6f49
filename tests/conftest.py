"""What all Python tests share: processes, hypothesis profiles, and the real networks that may stand beside us."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from breadth import (  # noqa: F401 - hooks of pytest
    pytest_addoption,
    pytest_collection_modifyitems,
    pytest_configure,
    pytest_report_header,
)
from forked import AUDITOR, COMMANDS, Forking

ROOT = Path(__file__).resolve().parents[1]

# A test must run what it says, and leave nothing behind: results are kept only where a test asks for it.
os.environ["EQSPEC_CACHE"] = "off"
os.environ["EQSPEC_CACHE_KEY"] = "nothing that tests keep has to be kept from anybody"

# Hundreds of tests start eqspec as a command. Where Python is told to keep nothing of what it compiles, each of them
# would compile all of eqspec again, which takes as long as the rest of its start.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# Nor may it depend on how the tests themselves are spread: our plugin reads how many workers there are.
os.environ.pop("PYTEST_XDIST_WORKER_COUNT", None)


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int | None:
    """No process besides this one for a single file, which stays whole anyway; else as many as xdist finds right."""
    files = {Path(argument.partition("::")[0]) for argument in config.args}
    return 0 if len(files) == 1 and files.pop().suffix == ".py" else None


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder with real networks and published results; its tests are skipped without it, but never in CI."""
    folder = ROOT.parent / "shared"
    if not (folder / "data").is_dir():
        message = f"the real networks are not beside the repository ({folder.name}/data)"
        if os.environ.get("CI") == "true":
            pytest.fail(message)
        pytest.skip(message)
    return folder


@pytest.fixture(scope="session")
def root() -> Path:
    """The repository."""
    return ROOT


@pytest.fixture(scope="session")
def forking(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Forking]:
    """Commands of eqspec that do not start from nothing."""
    with Forking(tmp_path_factory.mktemp("forking") / "socket", COMMANDS) as process:
        yield process


@pytest.fixture(scope="session", autouse=True)
def _forked_auditors(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Auditors that tests start are forked, too; commands in processes of their own start theirs from nothing."""
    from eqspec.certificates import auditor

    with ExitStack() as stack:

        @cache
        def forking() -> Forking:
            return stack.enter_context(Forking(tmp_path_factory.mktemp("auditors") / "socket", AUDITOR))

        def start(arguments: list[str], **named: Any) -> subprocess.Popen[str]:
            python, safe, *words = arguments
            assert (python, safe) == (sys.executable, "-P")
            return subprocess.Popen(forking().command("audit", *words), **named)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(auditor, "subprocess", SimpleNamespace(Popen=start, PIPE=subprocess.PIPE))
            yield

"""What all Python tests share: hypothesis profiles, and the real networks that may stand beside the repository."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

ROOT = Path(__file__).resolve().parents[1]

# A test must run what it says, and leave nothing behind: results are kept only where a test asks for it.
os.environ["EQSPEC_CACHE"] = "off"

settings.register_profile("fast", max_examples=60, deadline=None, derandomize=True)
settings.register_profile("slow", max_examples=2000, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "fast"))


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

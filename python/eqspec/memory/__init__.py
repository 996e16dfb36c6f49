"""Memory of results, on disk: sealed entries by key, written whole or not at all, and where they lie.

It knows nothing of tasks: whoever remembers something decides what the key covers and whether to believe the content.
What it promises is that an entry that reads back is one that was written, whole, under that key, by somebody who knows
the secret that seals it.
"""

from eqspec.memory.files import replace_file
from eqspec.memory.folder import ENVIRONMENT, chosen_folder
from eqspec.memory.key import KEY_ENVIRONMENT, Key
from eqspec.memory.search import SavedSearch
from eqspec.memory.store import Store, Usage

__all__ = [
    "ENVIRONMENT",
    "KEY_ENVIRONMENT",
    "Key",
    "SavedSearch",
    "Store",
    "Usage",
    "chosen_folder",
    "replace_file",
]

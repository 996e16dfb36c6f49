"""The cache of results on disk: sealed entries by key, each written whole or not at all, and the folder they lie in.

This package knows nothing of tasks. Its users decide what a key covers and whether to believe an entry's content.
What it promises is that an entry that reads back was written whole, under that key, by somebody who knows the secret
that seals it.
"""

from eqspec.cache.files import replace_file
from eqspec.cache.folder import ENVIRONMENT, chosen_folder
from eqspec.cache.key import KEY_ENVIRONMENT, Key
from eqspec.cache.saved_search import SavedSearch
from eqspec.cache.store import Store, Usage

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

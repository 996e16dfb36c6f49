"""The key that seals what is kept: EQSPEC_CACHE_KEY, or a file of the user, made once, that nobody else may read.

Somebody who can write to the folder of results, because it is shared or filled by CI, must not be able to change a
verdict. So every entry carries an HMAC-SHA256 under a key that does not lie in that folder. An entry that
was sealed with another key says nothing and is not used. The key protects nothing against programs that run as the
same user, who could as well change eqspec itself.

The file appears whole: it is written under another name and then linked to its own, which fails if another process
was faster, whose key counts then. A file that others may read or change is no secret, and is refused.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
from collections.abc import Mapping
from dataclasses import field
from pathlib import Path

from eqspec.cache.files import BrokenError, open_plain
from eqspec.errors import InputError
from eqspec.lazy_dataclass import dataclass

KEY_ENVIRONMENT = "EQSPEC_CACHE_KEY"
_SIZE = 32
"""Bytes of a key."""
_LEAST = 16
"""Characters of a key in the environment."""


class NoKeyError(OSError):
    """There is no key that could be trusted; the message says why and what to do."""


@dataclass(frozen=True)
class Key:
    """A secret, and where it comes from, for messages. Two keys with the same `id` are the same."""

    secret: bytes = field(repr=False)
    origin: str

    @property
    def id(self) -> str:
        """A name that tells keys apart and gives nothing away."""
        return self.seal("id").hex()[:16]

    def seal(self, label: str, *parts: bytes) -> bytes:
        """The HMAC of the parts, one after the other; a label is of one use, and holds no zero byte."""
        made = hmac.new(self.secret, label.encode() + b"\0", hashlib.sha256)
        for part in parts:
            made.update(part)
        return made.digest()


def given_key(environ: Mapping[str, str] = os.environ) -> Key | None:
    """The key of the environment; None where it names none. InputError if it is so short that it could be guessed."""
    said = environ.get(KEY_ENVIRONMENT, "").strip()
    if not said:
        return None
    if len(said) < _LEAST:
        raise InputError(
            f"{KEY_ENVIRONMENT} has {len(said)} characters, which can be guessed; give {_LEAST} or more at random, "
            "as 'openssl rand -hex 32' prints them"
        )
    return Key(hashlib.sha256(b"eqspec cache key\0" + said.encode(errors="surrogateescape")).digest(), KEY_ENVIRONMENT)


def key_file() -> Path:
    """Where the key of this user lies, apart from what it seals."""
    from platformdirs import user_data_path

    return user_data_path("eqspec") / "cache.key"


def user_key(path: Path | None = None) -> Key:
    """The key of this user, made if there is none. NoKeyError if that is impossible or somebody else may know it."""
    path = path or key_file()
    try:
        try:
            return _read(path)
        except FileNotFoundError:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            _make(path)
            return _read(path)
    except NoKeyError:
        raise
    except OSError as error:
        reason = error.strerror or error
        raise NoKeyError(f"the key {path} is not to be had: {reason}; {KEY_ENVIRONMENT} can hold one instead") from None


def _read(path: Path) -> Key:
    try:
        file = open_plain(path, follow=True)
    except BrokenError:
        raise NoKeyError(f"the key {path} is not a file; remove it, and a new one is made") from None
    with file:
        about = os.fstat(file.fileno())
        if hasattr(os, "geteuid"):
            if about.st_uid != os.geteuid():
                raise NoKeyError(f"the key {path} belongs to another user; remove it, and a new one is made")
            if about.st_mode & 0o077:
                raise NoKeyError(
                    f"the key {path} may be read or changed by others (its mode is {about.st_mode & 0o777:04o}); "
                    "remove it, and a new one is made"
                )
        written = file.read(2 * _SIZE + 2)
    try:
        secret = bytes.fromhex(written.decode("ascii"))
    except ValueError:
        secret = b""
    if len(secret) != _SIZE:
        raise NoKeyError(f"the key {path} is damaged; remove it, and a new one is made")
    return Key(secret, str(path))


def _make(path: Path) -> None:
    """A new key at `path`, unless another process made one meanwhile."""
    content = secrets.token_hex(_SIZE).encode() + b"\n"
    part = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    try:
        _write(part, content)
        try:
            os.link(part, path)
        except FileExistsError:
            pass
        except OSError:  # a file system without links; then whoever looks at once may find half of it, and says so
            _write(path, content)
    except FileExistsError:
        pass
    finally:
        part.unlink(missing_ok=True)


def _write(path: Path, content: bytes) -> None:
    """A new file that only its owner may read. FileExistsError if there is one."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0), 0o600)
    with open(descriptor, "wb") as file:  # noqa: PTH123 - a descriptor
        file.write(content)
        file.flush()
        os.fsync(descriptor)

"""Sealed entries: what is opened under a kind and a key was sealed under these, whole, by who has the secret.

The seal is an HMAC-SHA256 of the kind, the key and the content. An entry that was cut off, changed in one bit, moved to
another key, passed off as another kind, or written by somebody without the secret has no valid seal, and reads as
nothing. What the seal cannot tell is an earlier true entry of the same key from the latest one.
"""

from __future__ import annotations

import hmac

from eqspec.cache.files import BrokenError
from eqspec.cache.key import Key

MARK = b"eqspec-memory/2"
"""The first word of every entry names the format. It keeps its old spelling, so that existing caches stay readable."""


def head(secret: Key, kind: str, key: str, *parts: bytes) -> bytes:
    """The first line of an entry: it says what the content behind it is, and seals it."""
    return b" ".join([MARK, kind.encode(), key.encode(), _seal(secret, kind, key, *parts)]) + b"\n"


def opened(secret: Key, kind: str, key: str, data: bytes) -> bytes:
    """The content that was sealed as this kind and key. `BrokenError` if this is no such thing."""
    first, _, content = data.partition(b"\n")
    match first.split(b" "):
        case [mark, *_] if mark != MARK:
            raise BrokenError("it is not from this version of eqspec, or damaged")
        case [_, k, name, seal] if k == kind.encode() and name == key.encode():
            if not hmac.compare_digest(seal, _seal(secret, kind, key, content)):
                raise BrokenError("it is damaged, or was changed by somebody without the key")
            return content
        case _:
            raise BrokenError("it is damaged, or has been moved")


def _seal(secret: Key, kind: str, key: str, *parts: bytes) -> bytes:
    return secret.seal("entry", f"{kind}\0{key}\0".encode(), *parts).hex().encode()

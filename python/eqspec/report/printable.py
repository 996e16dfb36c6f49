r"""Text for people, on a terminal or on a page: control characters in it are shown, not sent.

Names of features, files, tensors and operators come from files that anybody may have made. A control character among
them would move the cursor, change colours or retitle the window, and a mark of writing direction would show the text in
another order. So they are written as what Python calls them: \x1b, \x9b, \u202e. Line ends and tabs stay.

What is printed during a workflow of GitHub is also read by its runner, which takes lines that begin with `::` and what
follows `##[` for commands: a tensor called so could hide errors, or make some. So these are written out as well.

There is one place for each way out: `terminal.Terminal` for everything that rich prints, `shown` or `harmless` for
text that is written as it is, `shown_in_json` where the text is JSON, and `use_what_there_is` for characters that the
encoding of a stream does not have.
"""

from __future__ import annotations

import codecs
import io
import re
import sys

_KEPT = "\n\t"
_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f"  # control characters
    "\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"  # directions, separators, what has no width
    "\U000e0000-\U000e0fff\ud800-\udfff]"  # tags, and bytes of names that are no text
)
_COMMAND = re.compile(r"(?<=#)#(?=\[)|(?:(?<=\n)|\A)(?P<space>[^\S\n]*):(?=:)")
_HANDLER = "eqspec.shown"


def shown(text: str) -> str:
    r"""The text with its invisible characters written as escapes such as \x1b."""
    return _HIDDEN.sub(lambda m: written_out(m[0]), text) if _HIDDEN.search(text) else text


def harmless(text: str) -> str:
    r"""The same, and with nothing that the runner of a workflow takes for a command, as \x3a:error."""
    return _COMMAND.sub(lambda m: (m["space"] or "") + written_out(m[0][-1]), shown(text))


def one_line(text: str) -> str:
    r"""A name as one line: its line ends and tabs are written out, as \n."""
    return text.replace("\r", "\\r").replace("\n", "\\n").replace("\t", "\\t")


def shown_in_json(text: str) -> str:
    r"""The same for JSON text, which stays the same value: \u001b."""
    text = text.replace("##[", "##\\u005b")
    return _HIDDEN.sub(lambda m: _json(m[0]), text) if _HIDDEN.search(text) else text


def use_what_there_is() -> None:
    r"""From now on characters that the standard streams cannot encode are written as escapes such as \u221e."""
    codecs.register_error(_HANDLER, _encoded)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=_HANDLER)


def _encoded(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return "".join(map(_json, error.object[error.start : error.end])), error.end


def written_out(character: str) -> str:
    r"""A character as Python calls it: \x1b, \u202e."""
    number = ord(character)
    return f"\\x{number:02x}" if number < 0x100 else f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"


def _json(character: str) -> str:
    number = ord(character)
    if number < 0x10000:
        return f"\\u{number:04x}"
    number -= 0x10000
    return f"\\u{0xD800 + (number >> 10):04x}\\u{0xDC00 + (number & 0x3FF):04x}"

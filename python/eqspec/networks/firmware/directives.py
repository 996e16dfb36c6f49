"""Directives of the preprocessor in the C++ of a project: those that hls4ml writes, from release 0.8 to 1.3.

A macro changes what every word behind it means, and a condition whether it is there at all. The words of a definition,
by which hls4ml's templates are recognised, show neither. So each directive has to be one that hls4ml has: guards of a
header, includes of known headers, and its own macros and conditions as they stand here.
"""

from __future__ import annotations

import re

from eqspec.networks.firmware.tokens import Word, Words

_INCLUDE = re.compile(r"<[\w./]+>|\"(nnet_\w+|ap_\w+|hls_\w+|utils/x_hls_utils)\.h\"")
_KNOWN = frozenset((
    "#if !defined(__SYNTHESIS__) && defined(SINCOS_LUT_DEBUG)", "#ifdef __HLS_SYN__", "#ifdef __SYNTHESIS__",
    "#ifdef __VITIS_HLS__", "#ifndef __SYNTHESIS__", "#ifndef __VITIS_HLS__", "#ifndef WEIGHTS_DIR", "#else", "#endif",
    "#define DATA_PACK_PRAGMA(variable) DATA_PACK_TXT variable", "#define DATA_PACK_TXT HLS DATA_PACK variable =",
    "#define DIV_ROUNDUP(n, d) ((n + d - 1) / d)", "#define EXPAND_STRING(x) STRINGIFY(x)",
    "#define MAX(n, d) (n > d ? n : d)", "#define MIN(n, d) (n > d ? d : n)", "#define PRAGMA_DATA_PACK(variable)",
    "#define PRAGMA_DATA_PACK(variable) _Pragma(EXPAND_STRING(DATA_PACK_PRAGMA(variable)))", "#define STRINGIFY(x) #x",
    '#define WEIGHTS_DIR "weights"',
))  # fmt: skip
_FIX = "write the project again with a release of hls4ml from 0.8 to 1.3, without changing its templates"


def check_header(words: Words) -> None:
    """NetworkError at a directive of a header that hls4ml does not write."""
    guards = set[str]()
    for directive in words.directives:
        text = _plain(directive)
        kind, _, behind = text.partition(" ")
        guard = re.fullmatch(r"\w+_H_?_?", behind) is not None
        if kind == "#ifndef" and guard:
            guards.add(behind)
        elif not (
            kind == "#pragma"
            or text in _KNOWN
            or (kind == "#include" and _INCLUDE.fullmatch(behind))
            or (kind == "#define" and behind in guards)
        ):
            words.fail(directive.line, f"the directive {text[:60]!r} is none of hls4ml's", _FIX)


def check_prototype(words: Words, name: str) -> None:
    """NetworkError where the header of a project says more than the prototype of its function."""
    for directive in words.directives:
        text = _plain(directive)
        kind, *behind = text.split()
        changes_nothing = kind in ("#ifndef", "#endif", "#pragma") or (kind == "#define" and len(behind) < 2)
        if not changes_nothing and not is_plain_include(text, name):
            words.fail(directive.line, f"the directive {text[:60]!r} is none of hls4ml's", _FIX)
    words.expect("void")
    words.name("the name of the function")
    words.expect("(")
    words.until(")")
    words.expect(";")
    if words.next.text:
        words.refuse("the end of the file")


def is_plain_include(text: str, name: str) -> bool:
    """Whether a directive includes nothing that is not read or known: `name` is that of the project's header."""
    kind, _, behind = text.partition(" ")
    known = (f'"{name}"', '"parameters.h"', '"defines.h"')
    return kind == "#include" and (behind in known or _INCLUDE.fullmatch(behind) is not None)


def _plain(directive: Word) -> str:
    """The directive without a comment behind it and without the space that it may begin with."""
    text = re.sub(r"\s*(//.*|/\*.*?\*/)", "", directive.text)
    return re.sub(r"^#\s+", "#", text).strip()

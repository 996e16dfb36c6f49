"""What each finding about a VNN-LIB file is about, in one line; codes never change their meaning.

The codes of specs are in `eqspec.spec.codes`. An import may also find E132, E133 and E610 onwards as they are there.
"""

from __future__ import annotations

CODES: dict[str, str] = {
    "E600": "text that is not VNN-LIB",
    "E601": "asserts that describe outputs which agree",
    "E602": "asserts that no outputs can meet",
    "E603": "something of the standard that is not supported",
    "E604": "a variable that is not declared, or not so",
    "E605": "network files that do not fit the declarations",
    "E610": "two networks that are not given the same input",
    "E611": "asserts that none of the sentences says",
    "E612": "a file that is too large or nests too deep",
    "W601": "something that the standard writes otherwise",
    "W602": "a strict bound of inputs that is read as closed",
    "W603": "a part of the asserts that changes nothing",
    "W604": "a floating-point type that is read as real numbers",
    "W605": "a network without a file",
}

"""The commands beside `check`; each module adds one."""

from eqspec.cli.tools import (
    audit,
    cache,
    completion,
    doctor,
    explain,
    export,
    fmt,
    init,
    inspect,
    lint,
    lsp,
    replay,
    report,
    schema,
    verify,
    vnnlib_import,
    vnnlib_verify,
)
from eqspec.cli.tools import compile as compile_

TOOLS = (
    verify,
    init,
    lint,
    explain,
    fmt,
    inspect,
    compile_,
    replay,
    audit,
    report,
    schema,
    vnnlib_import,
    export,
    vnnlib_verify,
    doctor,
    lsp,
    completion,
    cache,
)

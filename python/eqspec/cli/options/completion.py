"""What `eqspec completion` takes on the command line."""

from __future__ import annotations

from eqspec.cli.commands import Commands, command

SHELLS = ("bash", "zsh", "fish")


_EPILOG = """\
bash:  eqspec completion bash > ~/.local/share/bash-completion/completions/eqspec
zsh:   eqspec completion zsh > FOLDER/_eqspec    (any folder in $fpath)
fish:  eqspec completion fish > ~/.config/fish/completions/eqspec.fish"""


def add(commands: Commands) -> None:
    """Add the command."""
    made = command(commands, "completion")
    made.add_argument("shell", choices=SHELLS)
    made.epilog = _EPILOG

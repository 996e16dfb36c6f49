"""The commands beside `check`, a module for each; `eqspec.cli.commands` lists them."""

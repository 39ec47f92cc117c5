"""The configuration file: options of the command line, one key each; the command line wins."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path

import rich_click as click
from click.core import ParameterSource

PLAIN, PROJECT = "fairenum.toml", "pyproject.toml"
FILE_KEY = "fairenum.cli.config.file"


def use_config(context: click.Context, _parameter: click.Parameter, path: Path | None) -> Path | None:
    """Take defaults from the file asked for, or else from the one in the working directory."""
    if not context.resilient_parsing and (file := path or _nearby()):
        context.default_map = _defaults(context.command, _read(file), file.name)
        context.meta[FILE_KEY] = file.name
    return path


def origin(error: click.ClickException) -> str:
    """Name the file that a refused value stands in; nothing if it came from elsewhere."""
    context, parameter = getattr(error, "ctx", None), getattr(error, "param", None)
    if context is None or parameter is None:
        return ""
    is_from_file = context.get_parameter_source(parameter.name) is ParameterSource.DEFAULT_MAP
    return f" (in {context.meta[FILE_KEY]})" if is_from_file else ""


def _nearby() -> Path | None:
    """Find the file in the working directory; fairenum.toml wins over a section of pyproject.toml."""
    return next((path for path in (Path(PLAIN), Path(PROJECT)) if path.is_file()), None)


def _read(file: Path) -> Mapping[str, object]:
    try:
        content = tomllib.loads(file.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise click.UsageError(f"{file.name} is no TOML file: {error}") from error
    section = content.get("tool", {}).get("fairenum", {}) if file.name == PROJECT else content
    if not isinstance(section, Mapping):
        raise click.UsageError(f"tool.fairenum in {file.name} must be a table")
    return section


def _defaults(command: click.Command, section: Mapping[str, object], name: str) -> dict[str, object]:
    """Turn keys into parameters and values into what would be typed."""
    from fairenum.dataset.naming import did_you_mean

    options = {key: option for option in command.params for key in _keys(option)}
    defaults: dict[str, object] = {}
    for key, value in section.items():
        option = options.get(key.replace("_", "-"))
        if option is None:
            hint = did_you_mean(key, options) or f"; see {command.name} --help for the options"
            raise click.UsageError(f"unknown option {key!r} in {name}{hint}")
        defaults[str(option.name)] = _as_typed(option, key, value, name)
    return defaults


def _keys(option: click.Parameter) -> list[str]:
    """List what an option may be called in a file: what follows its dashes."""
    if not isinstance(option, click.Option) or option.is_eager:
        return []
    return [flag.lstrip("-") for flag in option.opts]


def _as_typed(option: click.Parameter, key: str, value: object, name: str) -> str | list[str]:
    # a value that is read as if it were typed is checked as if it were typed: no 2.5 for a whole number, no true for 1
    if isinstance(value, list):
        texts = [_text(key, item, name) for item in value]
        return texts if option.multiple else ",".join(texts)
    text = _text(key, value, name)
    return [text] if option.multiple else text


def _text(key: str, value: object, name: str) -> str:
    if isinstance(value, str | int | float):
        return str(value)
    raise click.UsageError(f"{key!r} in {name} must be a text, a number, true or false, or a list of them")

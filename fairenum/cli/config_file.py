"""Configuration files: one key per command-line option; options on the command line take precedence."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import rich_click as click
from click.core import ParameterSource

from fairenum.cli.shared_options import Added, added
from fairenum.document.options import shown

PLAIN, PROJECT = "fairenum.toml", "pyproject.toml"
FILE_KEY, OFF_KEY = "fairenum.cli.config_file.file", "fairenum.cli.config_file.off"
LARGEST = 2**20  # bytes of a configuration file
LONGEST_NUMBER = 400  # digits; no option needs as many

# Keys refused in a file found in the working directory: it may have come along with downloaded data.
WRITES = {"output", "export", "flips_table", "json", "markdown", "html", "junit", "tables", "xlsx", "evidence"}
WRITES |= {"record"}
RUNS = {"solver", "fallback", "strategies", "incumbent_model"}


def config_options(other: click.Command | None = None) -> Added[Any]:
    """Return a decorator that adds --config and --no-config; keys that only the command `other` has are ignored."""
    aside = "; options of an audit alone are ignored" if other else ""
    eager = partial(click.option, is_eager=True, expose_value=False)
    file = eager(
        "--config",
        type=click.Path(exists=True, dir_okay=False, path_type=Path),
        callback=partial(use_config, other=other),
        help=f"Read options from this file{aside}.  [default: {PLAIN}, or [tool.fairenum] of {PROJECT}]",
    )
    return added((file, eager("--no-config", is_flag=True, callback=_use_none, help="Read options from no file.")))


def use_config(
    context: click.Context, _parameter: click.Parameter, path: Path | None, other: click.Command | None = None
) -> Path | None:
    """Set the defaults of a command from its configuration file, and return the path given by --config.

    Without --config, the file is looked for in the working directory. Keys that only the command `other` has are
    ignored, as the file may have been written for that command.
    """
    if context.resilient_parsing or not (file := path or (None if context.meta.get(OFF_KEY) else _nearby())):
        return path
    _refuse_both(context, is_named=path is not None)
    section = _read(file)
    if other is not None:
        aside = set(_options(other)) - set(_options(context.command))
        section = {key: value for key, value in section.items() if key.replace("_", "-") not in aside}
    if section:
        context.default_map = _defaults(context.command, section, file.name, is_found=path is None)
        context.meta[FILE_KEY] = file.name
    return path


def _use_none(context: click.Context, _parameter: click.Parameter, is_off: bool) -> bool:
    if is_off:
        context.meta[OFF_KEY] = True
        _refuse_both(context, is_named=FILE_KEY in context.meta)
    return is_off


def _refuse_both(context: click.Context, *, is_named: bool) -> None:
    if is_named and context.meta.get(OFF_KEY):
        raise click.UsageError("--config names a file of options, and --no-config wants none; give one of them")


def options_file() -> str | None:
    """Return the name of the configuration file that was read, as valid UTF-8; None if no file was read."""
    name = click.get_current_context().meta.get(FILE_KEY)  # type: ignore[union-attr]  # a command runs
    return None if name is None else os.fsencode(name).decode(errors="replace")


def named_options_file() -> Iterator[tuple[str, str]]:
    """Yield ("options from", name) for the configuration file that was read, if any, for the printed list of files."""
    if name := options_file():
        yield "options from", name


def origin(error: click.ClickException) -> str:
    """Return " (in NAME)" if a refused value came from the configuration file NAME, else an empty text."""
    context, parameter = getattr(error, "ctx", None), getattr(error, "param", None)
    if context is None or parameter is None:
        return ""
    is_from_file = context.get_parameter_source(parameter.name) is ParameterSource.DEFAULT_MAP
    return f" (in {context.meta[FILE_KEY]})" if is_from_file else ""


def _nearby() -> Path | None:
    """Return the configuration file in the working directory, fairenum.toml before pyproject.toml; None without one."""
    return next((path for path in (Path(PLAIN), Path(PROJECT)) if path.is_file()), None)


def _read(file: Path) -> Mapping[str, object]:
    with file.open("rb") as opened:
        content = opened.read(LARGEST + 1)
    if len(content) > LARGEST:
        raise click.UsageError(f"{file.name} is larger than {LARGEST // 2**20} MB; no file of options is")
    try:
        found = tomllib.loads(content.decode())
    # besides TOML errors: bytes that are not UTF-8, numbers with too many digits, too deep nesting
    except (ValueError, RecursionError) as error:
        raise click.UsageError(f"{file.name} is no TOML file: {shown(str(error))[1:-1]}") from error
    if file.name != PROJECT:
        return found
    tool = found.get("tool", {})
    section = tool.get("fairenum", {}) if isinstance(tool, Mapping) else tool
    if not isinstance(section, Mapping):
        raise click.UsageError(f"tool.fairenum in {file.name} must be a table")
    return section


def _defaults(command: click.Command, section: Mapping[str, object], name: str, *, is_found: bool) -> dict[str, object]:
    """Return the values of a configuration file by parameter name, as the text that a user would type."""
    from fairenum.runtime.hints import did_you_mean

    options = _options(command)
    defaults: dict[str, object] = {}
    for key, value in section.items():
        option = options.get(key.replace("_", "-"))
        if option is None:
            hint = did_you_mean(key, options) or f"; see {command.name} --help for the options"
            raise click.UsageError(f"unknown option {shown(key)} in {name}{hint}")
        if is_found:
            _refuse_unasked(option, key, name)
        defaults[str(option.name)] = _as_typed(option, key, value, name)
    return defaults


def _refuse_unasked(option: click.Parameter, key: str, name: str) -> None:
    """Refuse a key that writes a file or runs code, in a configuration file that the user did not name."""
    does = "writes a file" if option.name in WRITES else "runs what it names" if option.name in RUNS else None
    if does:
        raise click.UsageError(
            f"{key!r} in {name} {does}, which a file that is found in the working directory may not ask for; give it "
            f"on the command line, or say that you mean this file: --config {name}"
        )


def _options(command: click.Command) -> dict[str, click.Parameter]:
    return {key: option for option in command.params for key in _keys(option)}


def _keys(option: click.Parameter) -> list[str]:
    """Return the keys that set an option in a configuration file: the flags of the option without dashes."""
    if not isinstance(option, click.Option) or option.is_eager:
        return []
    return [flag.lstrip("-") for flag in option.opts]


def _as_typed(option: click.Parameter, key: str, value: object, name: str) -> str | list[str]:
    # as text, values get the checks of the command line: no 2.5 for a whole number, no true for 1
    if isinstance(value, list):
        texts = [_text(key, item, name) for item in value]
        return texts if option.multiple else ",".join(texts)
    text = _text(key, value, name)
    return [text] if option.multiple else text


def _text(key: str, value: object, name: str) -> str:
    if isinstance(value, int) and abs(value) >= 10**LONGEST_NUMBER:
        raise click.UsageError(f"{key!r} in {name} has more than {LONGEST_NUMBER} digits")
    if isinstance(value, str | int | float):
        return str(value)
    raise click.UsageError(f"{key!r} in {name} must be a text, a number, true or false, or a list of them")

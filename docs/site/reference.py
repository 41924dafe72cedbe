"""Writes the references as Markdown: commands from their parsers, the HTTP API from its types."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterable, Iterator
from dataclasses import is_dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import click

import tequio
import tequio_client.__main__
import tequio_ledger.__main__
from tequio_ledger.web.app import ROUTES
from tequio_ledger.web.openapi import describe
from tequio_ledger.web.pages.home import API_GROUPS, api_group

Json = dict[str, Any]  # a node of the API's description: any JSON object

SERVICES = ("ledger", "streams", "seeds", "limiter", "description")
"""Parameters of handlers that no request carries."""
_LONGEST_INTEGER = (1 << 53) - 1
_PARAGRAPHS = re.compile(r"\n\s*\n")


def client_commands() -> str:
    """Describe every command of `tequio`, in the sections of its help."""
    lines: list[str] = []
    group, context = _root(tequio_client.__main__.cli, "tequio")
    for title, commands in tequio_client.__main__.SECTIONS.items():
        lines += ["", f"## {title}"]
        for name in commands:
            lines += _command(group, context, name, "###")
    return "\n".join(lines)


def ledger_commands() -> str:
    """Describe every command of `tequio-ledger`."""
    lines: list[str] = []
    group, context = _root(tequio_ledger.__main__.cli, "tequio-ledger")
    for name in group.list_commands(context):
        lines += _command(group, context, name, "##")
    return "\n".join(lines)


def python_library() -> str:
    """Describe the classes of `import tequio`: public methods and fields, by their docstrings."""
    lines: list[str] = []
    for kind in (
        tequio.Network,
        tequio.Run,
        tequio.ProvenHead,
        tequio.ProvenMeasure,
        tequio.ProvenTask,
    ):
        lines += ["", f"## {kind.__name__}", "", *_prose(kind)]
        if is_dataclass(kind):
            lines += _table("field", "meaning", _fields(kind))
            continue
        for name, member in vars(kind).items():
            lines += _member(kind.__name__, name, member)
    return "\n".join(lines)


def _member(kind: str, name: str, member: object) -> Iterator[str]:
    """Describe a property, a method, or how a network is opened."""
    if isinstance(member, property) and member.fget is not None:
        returned = inspect.get_annotations(member.fget)["return"]
        yield from ("", f"### {kind}.{name}: {returned}", "", *_prose(member))
    elif inspect.isfunction(member) and (not name.startswith("_") or kind == "Network"):
        given = str(inspect.signature(member)).replace("'", "").removesuffix(" -> None")
        given = given.replace("(self, ", "(").replace("(self)", "()")
        if name == "__init__":
            yield from ("", f"### {kind}{given}", "", *_prose(member))
        elif not name.startswith("_"):
            yield from ("", f"### {kind}.{name}{given}", "", *_prose(member))


def _prose(documented: object) -> Iterator[str]:
    for paragraph in _PARAGRAPHS.split(inspect.getdoc(documented) or ""):
        yield " ".join(paragraph.split())
        yield ""


def _fields(kind: type) -> Iterator[tuple[str, str]]:
    """List the fields of a class with their types, and the texts below them."""
    (tree,) = ast.parse(inspect.getsource(kind)).body
    if not isinstance(tree, ast.ClassDef):
        raise TypeError(f"{kind.__name__} is not a class")
    for field, below in pairwise([*tree.body, ast.Pass()]):
        if isinstance(field, ast.AnnAssign):
            said = below.value if isinstance(below, ast.Expr) else None
            text = str(said.value) if isinstance(said, ast.Constant) else ""
            yield f"`{ast.unparse(field.target)}: {ast.unparse(field.annotation)}`", text


def _root(command: click.Command, name: str) -> tuple[click.Group, click.Context]:
    if not isinstance(command, click.Group):
        raise TypeError(f"{name} has no commands")
    return command, click.Context(command, info_name=name)


def _command(group: click.Group, parent: click.Context, name: str, level: str) -> Iterator[str]:
    command = group.get_command(parent, name)
    if command is None or command.hidden:
        return
    context = click.Context(command, info_name=name, parent=parent)
    yield from ("", f"{level} {context.command_path}", "")
    usage = " ".join(command.collect_usage_pieces(context))
    yield from ("```text", f"{context.command_path} {usage}", "```", "")
    for paragraph in _PARAGRAPHS.split(command.help or ""):
        yield from (" ".join(paragraph.replace("\b", "").split()), "")
    if isinstance(command, click.Group):
        for inner in command.list_commands(context):
            yield from _command(command, context, inner, f"{level}#")
    else:
        yield from _table("option", "meaning", _options(command, context))


def _options(command: click.Command, context: click.Context) -> Iterator[tuple[str, str]]:
    for one in command.get_params(context):
        record = one.get_help_record(context)
        if record is not None and record[1] and "--help" not in one.opts:
            names, text = record
            yield f"`{names}`", text.replace(str(Path.home()), "~")


def http_api() -> str:
    """Describe every call of the ledger's API, and the types of its answers."""
    described = describe(ROUTES, SERVICES)
    groups: dict[str, list[str]] = {}
    for path, methods in described["paths"].items():
        calls = groups.setdefault(api_group(path), [])
        for method, operation in methods.items():
            calls += _call(method.upper(), path, operation)
    lines: list[str] = []
    for name in dict.fromkeys((*API_GROUPS.values(), *groups)):
        lines += ["", f"## {name}", *groups.get(name, ())]
    lines += ["", "## Types", "", "The names in the answers above."]
    for name, schema in sorted(described["components"]["schemas"].items()):
        lines += ["", f"### {name}", "", _sentence(schema.get("description", "")), ""]
        rows = [(f"`{field}`", _type(one)) for field, one in schema["properties"].items()]
        lines += _table("field", "type", rows)
    return "\n".join(lines)


def _call(method: str, path: str, operation: Json) -> Iterator[str]:
    yield from ("", f"### {method} {path}", "", _sentence(operation["description"] or ""), "")
    rows = [
        (f"`{one['name']}`", f"{one['in']}; {_type(one['schema'])}" + _default(one["schema"]))
        for one in operation["parameters"]
    ]
    if rows:
        yield from _table("parameter", "place and type", rows)
    if body := operation.get("requestBody"):
        yield from ("", f"*Body:* {_content(body)} {body['description']}")
    for status, answer in operation["responses"].items():
        if not status.endswith("XX"):
            yield from ("", f"*{status}:* {_content(answer)} {_unless_typed(answer)}")


def _content(answer: Json) -> str:
    """Name the media type of bytes, or link the type of JSON."""
    ((media, content),) = answer.get("content", {"": {}}).items()
    schema = content.get("schema", {})
    if "$ref" in schema:
        return _type(schema)
    most = f", at most {schema['maxLength']:,} bytes" if "maxLength" in schema else ""
    return f"`{media}`{most}." if media else ""


def _unless_typed(answer: Json) -> str:
    return "" if answer["description"] == "The answer." else answer["description"]


def _default(schema: Json) -> str:
    given = schema.get("default", "")
    return "" if given == "" else f"; default `{given}`"


def _type(schema: Json) -> str:
    """Say in words what a value can be."""
    match schema:
        case {"$ref": path}:
            name = path.rpartition("/")[2]
            words = f"[{name}](#{name.lower()})"
        case {"anyOf": options}:
            words = " or ".join(_type(one) for one in options)
        case {"enum": values}:
            words = ", ".join(f"`{one}`" for one in values)
        case {"type": "array", "items": item}:
            words = f"list of {_type(item)}"
        case {"type": "integer"}:
            words = f"integer{_range(schema)}"
        case {"type": "string"}:
            words = _text_type(schema)
        case _:
            words = schema.get("type", "any value")
    return words


def _range(schema: Json) -> str:
    least, most = schema.get("minimum"), schema.get("maximum", _LONGEST_INTEGER)
    if least is None:
        return ""
    return f", {least} or more" if most == _LONGEST_INTEGER else f", {least} to {most:,}"


def _text_type(schema: Json) -> str:
    least, most = schema.get("minLength"), schema.get("maxLength")
    if least is not None and least == most:
        return f"text of {most} characters"
    return f"text, at most {most:,} characters" if most else "text"


def _sentence(text: str) -> str:
    return " ".join(text.split())


def _table(first: str, second: str, rows: Iterable[tuple[str, str]]) -> Iterator[str]:
    cells = [tuple(_sentence(cell).replace("|", "\\|") for cell in row) for row in rows]
    if cells:
        yield from ("", f"| {first} | {second} |", "|---|---|")
        yield from (f"| {one} | {other} |" for one, other in cells)

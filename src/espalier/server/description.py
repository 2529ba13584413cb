"""The description of the API: for machines (OpenAPI), with all that a generated client has to send, and for people."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from espalier.pages.page import page, paragraph, section, table
from espalier.server.security import HEADER, OPEN, UNMARKED
from espalier.server.shapes import ReferencesQuestion

__all__ = ["api_page", "completed"]

_MARK = {
    "name": HEADER, "in": "header", "required": True, "schema": {"type": "string", "enum": ["1"], "default": "1"},
    "description": "Pages of other sites cannot send it.",
}  # fmt: skip
_TOKEN = {"type": "http", "scheme": "bearer", "description": "Needed on addresses that others can reach."}


def completed(description: dict[str, Any]) -> dict[str, Any]:
    """Add the token, and the header that every request needs that is not GET; write single values as a list of one.

    Generators of clients know `enum`; of a number or a `const` some read the const alone.
    """
    description["components"]["schemas"]["ReferencesQuestion"] = ReferencesQuestion.model_json_schema()
    _without_const(description)
    description["components"]["securitySchemes"] = {"token": _TOKEN}
    for path, methods in description["paths"].items():
        for method, route in methods.items():
            route["security"] = [{}] if path in OPEN else [{"token": []}, {}]
            if method not in ("get", "head") and path not in UNMARKED:
                route.setdefault("parameters", []).append(_MARK)
    return description


def _without_const(part: Any) -> None:
    if isinstance(part, dict):
        if "const" in part and "type" in part:
            part["enum"] = [part.pop("const")]
        for value in part.values():
            _without_const(value)
    elif isinstance(part, list):
        for value in part:
            _without_const(value)


def api_page(description: Mapping[str, Any]) -> str:
    """Return the page of an OpenAPI description."""
    body = [paragraph("The same for machines: /api/v1/openapi.json. With examples: docs/server-api.md.")]
    for path, methods in description["paths"].items():
        for method, route in methods.items():
            body.append(section(f"{method.upper()} {path}", _route(route), route.get("description", "")))
    shapes = description.get("components", {}).get("schemas", {})
    body += [section(name, [_properties(shape)], shape.get("description", "")) for name, shape in shapes.items()]
    return page(f"The {description['info']['title'].removeprefix('Espalier ')}'s API", body)


def _route(route: Mapping[str, Any]) -> list[str]:
    rows = [
        [p["name"], p["in"], _type(p["schema"]), "yes" if p.get("required") else "", _usual(p["schema"])]
        for p in route.get("parameters", ())
    ]
    parts = [table(["parameter", "in", "type", "required", "default"], rows)] if rows else []
    for kind, content in route.get("requestBody", {}).get("content", {}).items():
        parts.append(paragraph(f"Body: {_type(content['schema'])} ({kind})"))
    for status, answer in route["responses"].items():
        shapes = [_type(content.get("schema", {})) for content in answer.get("content", {}).values()]
        if status < "4":
            parts.append(paragraph(f"Answer {status}: {', '.join(shapes) or 'nothing'}"))
    return parts


def _properties(shape: Mapping[str, Any]) -> str:
    needed = shape.get("required", ())
    rows = [
        [name, _type(about), "yes" if name in needed else "", _usual(about)]
        for name, about in shape.get("properties", {}).items()
    ]
    return table(["name", "type", "required", "default"], rows)


def _usual(schema: Mapping[str, Any]) -> str:
    return str(schema["default"]) if "default" in schema else ""


def _type(schema: Mapping[str, Any]) -> str:
    """Return a type in words."""
    if "$ref" in schema:
        return str(schema["$ref"]).rsplit("/", 1)[-1]
    if "anyOf" in schema:
        return " or ".join(_type(part) for part in schema["anyOf"])
    if "enum" in schema or "const" in schema:
        return ", ".join(map(repr, schema.get("enum", [schema.get("const")])))
    if schema.get("type") == "array":
        return f"list of {_type(schema.get('items', {}))}"
    if schema.get("type") == "object":
        if "properties" in schema:
            return ", ".join(f"{name} ({_type(about)})" for name, about in schema["properties"].items())
        values = schema.get("additionalProperties")
        return f"table of {_type(values if isinstance(values, Mapping) else {})}"
    return str(schema.get("type", "anything"))

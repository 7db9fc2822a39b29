"""List every design, or one, with its parameters, their defaults and meaning."""

import argparse
import json

from streamjoin.cli.arguments import add_design_name
from streamjoin.hdl.base.design import Design
from streamjoin.hdl.registry import find, installed


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_design_name(parser, required=False)
    parser.add_argument("--json", action="store_true", help="print JSON: a list of designs, or the one that was named")


def run(arguments: argparse.Namespace) -> int:
    named = None if arguments.design is None else find(arguments.design)
    designs = installed().values() if named is None else [named]
    if arguments.json:
        print(json.dumps([_as_json(design) for design in designs] if named is None else _as_json(named), indent=2))
    else:
        print("\n\n".join(map(_as_text, designs)))
        print("\n-p window=W sets all windows at once, -p span=T all spans, -p preset=NAME all that a preset has.")
    return 0


def _parameters(design: Design) -> list[dict]:
    defaults = design.parameters().as_dict()
    return [
        {
            "name": field.name,
            "default": defaults[field.name],
            "meaning": field.metadata.get("meaning", ""),
            **({"choices": list(field.metadata["choices"])} if field.metadata.get("choices") else {}),
        }
        for field in design.parameters_type.fields()
    ]


def _as_json(design: Design) -> dict:
    return {
        "name": design.name,
        "summary": design.summary,
        "streams": list(design.parameters().streams),
        "papers": list(design.citations),
        "holds_back": design.parameters().holds_back,
        "parameters": _parameters(design),
        "presets": dict(design.presets),
    }


def _as_text(design: Design) -> str:
    papers = f" ({'; '.join(design.citations)})" if design.citations else ""
    lines = [f"{design.name}: {design.summary}{papers}"]
    if design.parameters().holds_back:
        lines.append(f"  holds results back until later tuples or a drain come: {design.parameters().holds_back}")
    for parameter in _parameters(design):
        default = "none" if parameter["default"] is None else parameter["default"]
        choices = f" [{' | '.join(parameter['choices'])}]" if "choices" in parameter else ""
        lines.append(f"  {parameter['name'] + '=' + str(default):24} {parameter['meaning']}{choices}")
    for name, values in design.presets.items():
        words = " ".join(f"-p {key}={value}" for key, value in values.items())
        lines.append(f"  preset {name}: {words}")
    return "\n".join(lines)

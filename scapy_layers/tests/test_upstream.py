# SPDX-License-Identifier: GPL-2.0-or-later
"""What lets scapy.contrib take the layers as they are."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
LAYERS = HERE.parent / "scapy_x25"
MODULES = sorted(LAYERS.glob("*.py"))


def test_each_layer_has_a_campaign() -> None:
    status = "scapy.contrib.status = loads"
    layers = {path.stem for path in MODULES if status in path.read_text("utf-8")}
    assert layers <= {path.stem for path in HERE.glob("*.uts")}


def test_the_oldest_python_is_that_of_scapy() -> None:
    done = subprocess.run(
        [Path(sys.executable).with_name("vermin"), "--violations", "-t=3.9-", *MODULES],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("module", MODULES, ids=lambda path: path.name)
def test_nothing_but_scapy_and_python_is_needed(module: Path) -> None:
    for node in ast.walk(ast.parse(module.read_text("utf-8"))):
        names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and node.level == 0:
            names = [node.module or ""]
        for name in names:
            assert name.split(".")[0] in sys.stdlib_module_names | {"scapy"}


def test_no_file_but_code_is_needed() -> None:
    assert {path.suffix for path in LAYERS.iterdir() if path.is_file()} <= {".py", ".typed"}

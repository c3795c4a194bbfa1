"""The house itself: what is installed, what is shipped, and what importing the package costs.

Style, types and import rules are not checked here but by their own tools.
"""

import ast
import importlib
import json
import re
import subprocess
import sys
import tomllib
from importlib.metadata import packages_distributions, version
from pathlib import Path
from zipfile import ZipFile

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

import lance_explorer

ROOT = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
DOCUMENTS = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("tests/**/*.md")]
HEAVY_MODULES = {"ipywidgets", "lance", "networkx", "plotly", "polars", "pyarrow", "pyspark"}


def requirements() -> list[Requirement]:
    """Return the direct dependencies of the package and all its extras, without itself."""
    project = PROJECT["project"]
    lines = [*project["dependencies"]]
    for extra in project["optional-dependencies"].values():
        lines += extra
    return [parsed for line in lines if (parsed := Requirement(line)).name != project["name"]]


def pins() -> dict[str, Version]:
    """Return the versions in constraints.txt by canonical name."""
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    pairs = [line.split("==") for line in lines if line and not line.startswith("#")]
    return {canonicalize_name(name): Version(pin) for name, pin in pairs}


def targets() -> set[str]:
    """Return what make can be asked for."""
    rules = re.findall(r"^([a-z -]+):(?!=)", (ROOT / "Makefile").read_text(), flags=re.MULTILINE)
    return {target for rule in rules for target in rule.split()}


def without_code(markdown: str) -> str:
    return re.sub(r"```.*?```|`[^`\n]*`", "", markdown, flags=re.DOTALL)


def test_constraints_are_names_and_versions_only():
    plain = re.compile(r"#.*|[A-Za-z0-9._-]+==[A-Za-z0-9.+!]+")
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    assert [line for line in lines if not plain.fullmatch(line)] == []


def test_constraints_pin_every_direct_dependency_within_its_bounds():
    pinned = pins()
    outside = [
        str(requirement)
        for requirement in requirements()
        if (name := canonicalize_name(requirement.name)) not in pinned
        or pinned[name] not in requirement.specifier
    ]
    assert outside == []


def imported_modules() -> set[str]:
    """Return the top-level modules that the package imports, in functions and for types too."""
    found = set[str]()
    for path in (ROOT / "lance_explorer").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            match node:
                case ast.Import(names=names):
                    found |= {alias.name.partition(".")[0] for alias in names}
                case ast.ImportFrom(module=str(module), level=0):
                    found.add(module.partition(".")[0])
    return found - set(sys.stdlib_module_names) - {"lance_explorer"}


@pytest.mark.slow
def test_every_imported_package_is_declared():
    declared = {
        canonicalize_name(Requirement(line).name)
        for extra, lines in PROJECT["project"]["optional-dependencies"].items()
        if extra != "dev"
        for line in lines
    }
    declared |= {
        canonicalize_name(Requirement(line).name) for line in PROJECT["project"]["dependencies"]
    }
    providers = packages_distributions()
    undeclared = {
        module
        for module in imported_modules()
        if declared.isdisjoint(map(canonicalize_name, providers.get(module, [])))
    }
    assert undeclared == set()


def test_generated_protobuf_works_with_the_oldest_runtime_that_the_package_accepts():
    compilers = [
        Version(*re.findall(r"Protobuf Python Version: (\S+)", path.read_text()))
        for path in (ROOT / "lance_explorer/format/_pb").glob("*_pb2.py")
    ]
    [runtime] = [requirement for requirement in requirements() if requirement.name == "protobuf"]
    [oldest] = [Version(bound.version) for bound in runtime.specifier if bound.operator == ">="]
    assert max(compilers) <= oldest


def test_version_is_the_same_everywhere():
    declared = PROJECT["project"]["version"]
    assert lance_explorer.__version__ == version("lance-explorer") == declared
    assert f"## {declared}" in (ROOT / "CHANGELOG.md").read_text()


def test_every_public_name_is_importable():
    missing = [name for name in lance_explorer.__all__ if not hasattr(lance_explorer, name)]
    assert missing == []


def test_completion_offers_every_public_name():
    assert set(lance_explorer.__all__) <= set(dir(lance_explorer))


def test_an_unknown_name_is_an_attribute_error():
    name = "no_such_name"
    with pytest.raises(AttributeError, match=name):
        getattr(lance_explorer, name)


def test_importing_the_package_loads_nothing_heavy(record_property):
    program = """
import sys, time
begin = time.perf_counter()
import lance_explorer
print(time.perf_counter() - begin, *sys.modules)
"""
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    seconds, *modules = run.stdout.decode().split()
    record_property("import_seconds", seconds)
    assert HEAVY_MODULES & set(modules) == set()


def test_the_help_of_the_command_loads_nothing_heavy():
    program = """
import sys
from lance_explorer.cli import main
main(["--help"], standalone_mode=False)
print(*sys.modules)
"""
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert HEAVY_MODULES & set(run.stdout.decode().splitlines()[-1].split()) == set()


def test_the_command_is_a_function_that_exists():
    module, _, function = PROJECT["project"]["scripts"]["lance-explorer"].partition(":")
    assert callable(getattr(importlib.import_module(module), function))


def test_wheel_holds_the_package_and_the_notebooks_and_nothing_else(tmp_path):
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)],
        cwd=ROOT,
        capture_output=True,
        check=True,
    )
    [wheel] = tmp_path.glob("*.whl")
    names = set(ZipFile(wheel).namelist())
    notebooks = {f"lance_explorer/notebooks/{path.name}" for path in ROOT.glob("notebooks/*.ipynb")}
    statics = {str(path.relative_to(ROOT)) for path in ROOT.glob("lance_explorer/*/static/*")}
    assert {"lance_explorer/py.typed", "lance_explorer/__init__.py"} <= names
    assert "lance_explorer/widgets/static/explorer.js" in statics
    assert notebooks | statics <= names
    assert {name for name in names if name.startswith("lance_explorer/notebooks/")} == notebooks
    data = {name.split("/", 2)[2] for name in names if ".data/data/" in name}
    assert data == {
        "etc/jupyter/jupyter_server_config.d/lance_explorer.json",
        "share/jupyter/labextensions/lance-explorer/package.json",
        "share/jupyter/labextensions/lance-explorer/static/remoteEntry.js",
    }
    roots = {name.split("/")[0].split("-")[0] for name in names}
    assert roots == {"lance_explorer", "pyspark_lance_explorer.py"}  # which Spark looks for


def test_notebooks_are_stored_without_results():
    kept = []
    for path in ROOT.glob("notebooks/**/*.ipynb"):
        notebook = json.loads(path.read_text())
        code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
        if any(cell["outputs"] or cell["execution_count"] for cell in code):
            kept.append(path.name)
        if "widgets" in notebook["metadata"]:
            kept.append(f"{path.name} (widget state)")
    assert kept == []


def test_every_folder_of_python_is_type_checked():
    folders = {path.parent.name for path in ROOT.glob("[a-z]*/*.py")}
    modules = {path.name for path in ROOT.glob("*.py")} - {"conftest.py"}
    assert folders | modules == set(PROJECT["tool"]["mypy"]["files"])


def test_import_rules_see_every_folder():
    folders = {path.parent for path in (ROOT / "lance_explorer").rglob("*.py")}
    assert [folder for folder in folders if not (folder / "__init__.py").exists()] == []


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_between_documents_lead_somewhere(document):
    targets = re.findall(r"\]\((?!\w+:|#)([^)#\s]+)", without_code(document.read_text()))
    broken = [target for target in targets if not (document.parent / target).exists()]
    assert broken == []


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_documents_name_commands_that_exist(document):
    code = "\n".join(re.findall(r"```.*?```|`[^`\n]*`", document.read_text(), flags=re.DOTALL))
    named = set(re.findall(r"(?:^|`)make ([a-z-]+)", code, flags=re.MULTILINE))
    assert named <= targets()


def test_the_workflow_runs_commands_that_exist_with_every_python_that_is_declared():
    workflow = yaml.safe_load((ROOT / ".github/workflows/checks.yml").read_text())
    asked, pythons = set[str](), set[str]()
    for job in workflow["jobs"].values():
        matrix = job.get("strategy", {}).get("matrix", {})
        pythons |= {*matrix.get("python", [])}
        for step in job["steps"]:
            for which in matrix.get("versions", [""]):
                command = step.get("run", "").replace("${{ matrix.versions }}", which)
                asked |= {*re.findall(r"make (\S+)", command)}
    assert asked == {"test", "lowest", "newest", "nightly"}
    assert asked <= targets()
    declared = "Programming Language :: Python :: "
    classifiers = PROJECT["project"]["classifiers"]
    assert pythons == {
        line[len(declared) :] for line in classifiers if re.match(f"{declared}3\\.", line)
    }

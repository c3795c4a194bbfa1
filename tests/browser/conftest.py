"""One JupyterLab and one page of Chromium for all browser tests."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from lance_explorer import demo
from tests.browser.lab import PATIENCE, Lab, NotebookPage, chromium, lab_server
from tests.synthetic import SyntheticTable


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Chromium."""
    with chromium() as started:
        yield started


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A page of its own, without a lab; it must not complain."""
    context = browser.new_context(viewport={"width": 1200, "height": 900})
    made = context.new_page()
    made.set_default_timeout(1000 * PATIENCE)
    complaints: list[str] = []
    made.on("console", lambda message: complaints.append(message.text))
    made.on("pageerror", lambda error: complaints.append(str(error)))
    yield made
    context.close()
    assert complaints == []


@pytest.fixture(scope="session")
def lab(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """JupyterLab in a page."""
    folder = tmp_path_factory.mktemp("lab")
    with lab_server(folder) as address:
        context = browser.new_context(viewport={"width": 1400, "height": 1000})
        context.grant_permissions(["clipboard-read", "clipboard-write"], origin=address)
        yield Lab(context.new_page(), address, folder)
        context.close()


@pytest.fixture(scope="session")
def photos_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample table, for all who only read it."""
    return demo.make_photos(tmp_path_factory.mktemp("sample") / "photos.lance")


@pytest.fixture(scope="session")
def many_versions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table of 5,000 versions, the last of which has 5,000 fragments; nobody writes to it."""
    table = SyntheticTable(tmp_path_factory.mktemp("many") / "t.lance", transaction_files=False)
    table.append(rows=100, fragments=10)
    while table.version < 4_999:
        table.append(rows=10).delete({table.fragment_ids[-1]: range(10)})
    return table.append(rows=10, fragments=4_990).path


@pytest.fixture(autouse=True)
def _quiet(request: pytest.FixtureRequest) -> Iterator[None]:
    """Fail a test in which the lab complained, or asked for something off the machine."""
    yield
    if "lab" not in request.fixturenames:
        return
    lab = request.getfixturevalue("lab")
    lab.set_theme("light")
    if lab.page.viewport_size != {"width": 1400, "height": 1000}:
        lab.set_width(1400)
    errors, outside = lab.errors[:], lab.outside[:]
    lab.errors.clear()
    lab.outside.clear()
    assert (errors, outside) == ([], [])


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say why tests were run twice, so that the cause can be found."""
    for report in terminalreporter.stats.get("rerun", []):
        terminalreporter.section(f"run twice: {report.nodeid}")
        terminalreporter.write_line(report.longreprtext)


@pytest.fixture(scope="session")
def shared_notebook(lab: Lab) -> NotebookPage:
    """One kernel for what the tests of a module share; the next module puts its cells there."""
    return lab.open(lab.write("of_a_module", ""))


@pytest.fixture(scope="session")
def spare_notebook(lab: Lab) -> NotebookPage:
    """One kernel for what a single test looks at; the next test puts its cells there."""
    return lab.open(lab.write("of_a_test", ""))


@pytest.fixture(scope="module")
def open_notebook(
    lab: Lab, request: pytest.FixtureRequest
) -> Iterator[Callable[..., NotebookPage]]:
    """Open notebooks with kernels of their own, until the tests of the module are done."""
    opened: list[NotebookPage] = []

    def open_one(name: str, *cells: str) -> NotebookPage:
        path = lab.write(f"{request.path.stem}_{len(opened)}_{name}", *cells)
        notebook = lab.open(path)
        opened.append(notebook)
        return notebook

    yield open_one
    lab.close([notebook.path for notebook in opened])

"""A report, opened from its file with nothing else there: no kernel, no server, no network."""

import pytest
from playwright.sync_api import expect

from lance_explorer.table import open_table
from tests.browser.lab import PATIENCE
from tests.synthetic import SyntheticTable

pytestmark = pytest.mark.browser

HOSTILE = "</script><script>document.title = 'run'</script><img src=x onerror=\"document.title=1\">"


@pytest.fixture
def show(browser):
    """Open a file at a width and in a colour scheme; what it complains about is an error."""
    opened = []

    def show_file(path, width=1400, scheme="light"):
        context = browser.new_context(
            viewport={"width": width, "height": 1000}, color_scheme=scheme
        )
        page = context.new_page()
        page.set_default_timeout(PATIENCE * 1000)
        complaints = []
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.route("**/*", lambda route: refuse(route, complaints))
        page.goto(path.as_uri())
        opened.append((context, complaints))
        return page

    yield show_file
    for context, complaints in opened:
        context.close()
        assert complaints == []


def refuse(route, complaints):
    """Let files be read, and nothing else."""
    if route.request.url.startswith("file:"):
        route.continue_()
    else:
        complaints.append(route.request.url)
        route.abort()


@pytest.fixture(scope="module")
def report(photos_path, tmp_path_factory):
    return open_table(photos_path).report(tmp_path_factory.mktemp("report") / "photos.html")


def pictures(page):
    """Return the pictures when all of them are drawn."""
    drawn = page.locator(".plotly-graph-div:has(.main-svg)")
    page.wait_for_function(
        "() => document.querySelectorAll('.plotly-graph-div:not(:has(.main-svg))').length === 0"
    )
    return drawn


@pytest.mark.parametrize(
    ("width", "scheme", "paper"),
    [(1400, "light", "rgb(255, 255, 255)"), (700, "dark", "rgb(22, 22, 22)")],
)
def test_it_shows_with_nothing_but_its_file(show, report, width, scheme, paper):
    page = show(report, width, scheme)
    expect(pictures(page)).to_have_count(11)
    expect(page.get_by_role("navigation").get_by_role("link")).to_have_count(14)
    root = "document.documentElement"
    page.wait_for_function(f"() => {root}.scrollWidth <= {root}.clientWidth")
    expect(page.locator("body")).to_have_css("background-color", paper)


def test_contents_lead_to_their_parts_and_pictures_fit_on_paper(show, report):
    page = show(report)
    pictures(page)
    first_commit = page.locator("#growth-and-operations-1 .bars .point path").first
    first_commit.scroll_into_view_if_needed()
    first_commit.hover(force=True)
    page.locator("#growth-and-operations-1 .hovertext").get_by_text("version 1").wait_for()
    page.get_by_role("link", name="Lineage", exact=True).focus()
    page.keyboard.press("Enter")
    page.wait_for_function(
        """() => location.hash === "#lineage"
            && Math.abs(document.querySelector("#lineage").getBoundingClientRect().top) < 40"""
    )
    widths = """() => [...document.querySelectorAll('.plotly-graph-div .main-svg:first-child')]
        .map((svg) => svg.getBoundingClientRect().width)"""
    before = page.evaluate(widths)
    page.evaluate(f"addEventListener('beforeprint', () => {{ window.printed = ({widths})(); }})")
    page.pdf()
    page.wait_for_function("() => window.printed?.every((width) => width === 670)")
    page.wait_for_function(f"(before) => String(({widths})()) === String(before)", arg=before)


def test_whatever_a_table_says_is_not_run(show, tmp_path):
    table = SyntheticTable(tmp_path / "t.lance").append(rows=3).add_column(HOSTILE)
    table.create_index(HOSTILE).commit("append", note=HOSTILE).tag(HOSTILE)
    page = show(open_table(table.path).report(tmp_path / "report.html"))
    assert pictures(page).count() > 5
    assert page.title() == "t.lance"
    expect(page.locator("img")).to_have_count(0)
    assert page.get_by_text(HOSTILE).count() >= 4


def test_a_review_searches_in_its_rows_and_scrolls_them_in_their_box(show, photos_path, tmp_path):
    page = show(open_table(photos_path).diff(8, 45).report(tmp_path / "review.html"), 700)
    heading = page.get_by_role("heading", name="Rows", exact=True)
    part = page.locator("section").filter(has=heading)
    box = part.get_by_role("searchbox").first
    rows = part.locator(".search:has-text('shown rows') + .scroll tbody tr:visible")
    box.fill("the yellow TRAM")
    expect(part.get_by_role("status").first).to_have_text("1 of 200 shown rows")
    expect(rows).to_have_count(1)
    box.fill("")
    expect(part.locator(".search + .scroll").first.locator("tbody tr:visible")).to_have_count(200)
    heights = page.locator(".scroll").evaluate_all("all => all.map(one => one.clientHeight)")
    assert max(heights) < 500

import re
from pathlib import Path

import polars as pl
import pytest

from lance_explorer.errors import VersionNotFoundError
from lance_explorer.figures.palette import KIND_COLORS
from lance_explorer.widgets.state import ExplorerState
from lance_explorer.widgets.view import Reply, Request, View, answers

FRONTEND = Path(__file__).parents[2] / "frontend" / "src"


class Echo(View):
    """Answers in every way there is."""

    _module = "unavailable"

    @answers("echo")
    def _echo(self, request: Request) -> dict[str, object]:
        return {"said": request["words"], "loud": request.get("loud", False)}

    @answers("bytes")
    def _bytes(self, request: Request) -> Reply:
        return Reply({"length": 3}, (b"abc",))

    @answers("slow", in_background=True)
    def _slow(self, request: Request) -> dict[str, object]:
        request.progress("half done", 0.5)
        return {"done": True}

    @answers("missing")
    def _missing(self, request: Request) -> dict[str, object]:
        raise VersionNotFoundError("Version 12 was removed by cleanup; 15 to 31 remain")

    @answers("broken", in_background=True)
    def _broken(self, request: Request) -> dict[str, object]:
        raise ZeroDivisionError("no rows to divide by")

    @answers("panic")
    def _panic(self, request: Request) -> dict[str, object]:
        raise pl.exceptions.PanicException("not yet implemented")


def test_a_question_is_answered_with_its_number(browse):
    answer = browse(Echo()).ask("echo", words="hello")
    assert answer == {
        "what": "reply",
        "kind": "echo",
        "seq": 1,
        "asker": "test",
        "content": {"said": "hello", "loud": False},
    }


def test_bytes_go_beside_the_answer(browse):
    browser = browse(Echo())
    browser.ask("bytes")
    assert browser.messages()[-1][1] == [b"abc"]


def test_progress_comes_before_the_answer(browse):
    browser = browse(Echo())
    browser.ask("slow")
    told = [(content["what"], content["content"]) for content, _ in browser.messages()]
    assert told == [
        ("taken", {}),
        ("progress", {"text": "half done", "fraction": 0.5}),
        ("reply", {"done": True}),
    ]


def test_our_errors_are_told_in_words(browse):
    answer = browse(Echo()).ask("missing")
    assert answer["what"] == "error"
    assert answer["content"] == {
        "title": "Version not found",
        "message": "Version 12 was removed by cleanup; 15 to 31 remain",
        "details": "",
    }


@pytest.mark.parametrize(
    ("kind", "title"), [("broken", "ZeroDivisionError"), ("panic", "PanicException")]
)
def test_other_errors_are_told_with_their_traceback(browse, kind, title):
    content = browse(Echo()).ask(kind)["content"]
    assert content["title"] == title
    assert "Traceback" in content["details"]


def test_a_question_that_nobody_answers_is_an_error(browse):
    answer = browse(Echo()).ask("no such kind")
    assert (answer["what"], answer["content"]["title"]) == ("error", "LookupError")


def test_an_unknown_option_is_refused_with_those_there_are():
    with pytest.raises(TypeError, match="Echo has no option stat; it has state"):
        Echo(stat=None)  # type: ignore[call-arg]


def test_views_with_the_same_state_are_linked(browse):
    state = ExplorerState(version=3)
    one, other = Echo(state=state), Echo(state=state)
    browse(one).ask("state", changes={"version": "18446744073709551615", "filter": "a"})
    assert (state.version, state.filter) == (2**64 - 1, "a")
    assert other.shared["version"] == one.shared["version"] == "18446744073709551615"


def test_views_have_a_state_of_their_own_by_default():
    assert Echo().state is not Echo().state


def heard_by(view, *names):
    heard = []
    view.on_state(lambda: heard.append(view.state.version), *names)
    return heard


def test_a_view_that_is_not_shown_hears_of_changes_once_it_is():
    view = Echo()
    heard = heard_by(view, "version")
    view.is_shown = False
    view.state.version = 1
    view.state.version = 2
    assert (heard, view.shared["version"]) == ([], None)
    view.is_shown = True
    assert (heard, view.shared["version"]) == ([2], "2")
    view.state.version = 3
    assert heard == [2, 3]


def test_a_view_that_missed_nothing_hears_nothing_when_it_is_shown():
    view = Echo()
    heard = heard_by(view, "version")
    view.is_shown = False
    view.state.row_id = 7
    view.is_shown = True
    view.is_shown = True
    assert heard == []


def test_a_view_alone_opens_no_other_but_changes_the_state(browse):
    view = Echo()
    browse(view).ask("go", view="row", changes={"row_id": "7"})
    assert (view.opens, view.state.row_id) == ([], 7)


def test_a_view_among_others_asks_for_one_of_them(browse):
    view, opened = Echo(), []
    view.on_open(["row"], lambda name, changes: opened.append((name, changes)))
    answer = browse(view).ask("go", view="row", changes={"row_id": str(2**64 - 1)})
    assert answer["what"] == "reply"
    assert opened == [("row", {"row_id": 2**64 - 1})]
    assert view.state.row_id is None


def test_a_page_without_kernel_gets_html_beside_the_widget():
    made = Echo()._repr_mimebundle_()
    assert made
    bundle, _ = made
    assert "application/vnd.jupyter.widget-view+json" in bundle
    assert "Echo" in bundle["text/html"]


def test_the_module_has_the_colours_of_commits_and_imports_nothing():
    view = Echo()
    assert all(color.lower() in view._esm for color in KIND_COLORS.values())
    assert all(f"--lx-kind-{kind}:" in view._css for kind in KIND_COLORS)
    assert not re.search(r"\bimport\b *[({*\"']", view._esm)
    names_of_elements = r"http://www\.w3\.org/[\w/]+"  # XML namespaces, which nobody asks for
    assert "http" not in re.sub(names_of_elements, "", view._esm + view._css)


def test_no_source_of_the_widgets_makes_elements_of_text():
    sources = sorted(FRONTEND.glob("*.ts"))
    assert len(sources) > 50
    assert [
        path.name for path in sources if re.search(r"(inner|outer)HTML|\.html\(", path.read_text())
    ] == []

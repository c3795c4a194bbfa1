import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from lance_explorer.errors import VersionNotFoundError
from lance_explorer.figures.palette import KIND_COLORS
from lance_explorer.widgets.messages.base import Message, Uint8Array
from lance_explorer.widgets.state import ExplorerState
from lance_explorer.widgets.view import Request, View, answers

FRONTEND = Path(__file__).parents[2] / "frontend" / "src"


class Said(Message):
    said: str
    loud: bool


class Numbers(Message):
    length: int
    values: Uint8Array


class Echo(View):
    """Answers in every way there is."""

    _module = "unavailable"

    @answers("echo")
    def _echo(self, _: Request, *, words: str, loud: bool = False) -> Said:
        return Said(words, loud)

    @answers("bytes")
    def _bytes(self, _: Request) -> Numbers:
        return Numbers(3, np.frombuffer(b"abc", np.uint8))

    @answers("drifted")
    def _drifted(self, _: Request) -> Numbers:
        return Numbers(3, np.zeros(3, np.int32))

    @answers("slow", in_background=True)
    def _slow(self, request: Request) -> Said:
        request.progress("half done", 0.5)
        return Said("done", False)

    @answers("missing")
    def _missing(self, _: Request) -> None:
        raise VersionNotFoundError("Version 12 was removed by cleanup; 15 to 31 remain")

    @answers("broken", in_background=True)
    def _broken(self, _: Request) -> None:
        raise ZeroDivisionError("no rows to divide by")

    @answers("panic")
    def _panic(self, _: Request) -> None:
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
    content, buffers = browser.messages()[-1]
    assert content["content"] == {"length": 3, "values": None}
    assert [*content["arrays"]] == [{"path": ["values"], "type": "Uint8Array"}]
    assert buffers == [b"abc"]


def test_an_array_of_another_type_than_is_declared_is_not_sent(browse):
    answer = browse(Echo()).ask("drifted")
    assert answer["what"] == "error"
    assert answer["content"]["message"] == "Numbers.values is an array of uint8, not of int32"


def test_what_does_not_fit_the_arguments_of_a_question_is_refused(browse):
    browser = browse(Echo())
    for arguments in ({}, {"words": 5}, {"words": "a", "loud": "x"}, {"words": "a", "more": 1}):
        answer = browser.ask("echo", **arguments)
        assert (answer["what"], answer["content"]["title"]) == ("error", "Invalid argument")
        assert "the question 'echo' is not understood" in answer["content"]["message"]


def test_progress_comes_before_the_answer(browse):
    browser = browse(Echo())
    browser.ask("slow")
    told = [(content["what"], content["content"]) for content, _ in browser.messages()]
    assert told == [
        ("taken", {}),
        ("progress", {"text": "half done", "fraction": 0.5}),
        ("reply", {"said": "done", "loud": False}),
    ]


def test_our_errors_are_told_in_words(browse):
    answer = browse(Echo()).ask("missing")
    assert answer["what"] == "error"
    assert answer["content"] == {
        "title": "Version not found",
        "message": "Version 12 was removed by cleanup; 15 to 31 remain",
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
    assert (answer["what"], answer["content"]["title"]) == ("error", "Invalid argument")


def test_an_unknown_option_is_refused_with_those_there_are():
    with pytest.raises(TypeError, match="Echo has no option stat; it has state"):
        Echo(stat=None)  # type: ignore[call-arg]


def test_views_with_the_same_state_are_linked(browse):
    state = ExplorerState(version=3)
    one, other = Echo(state=state), Echo(state=state)
    browse(one).ask("state", changes={"version": "18446744073709551615", "filter": "a"})
    assert (state.version, state.filter) == (2**64 - 1, "a")
    assert other.shared.version == one.shared.version == "18446744073709551615"


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
    assert (heard, view.shared.version) == ([], None)
    view.is_shown = True
    assert (heard, view.shared.version) == ([2], "2")
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

"""Tables that the differential tests share; each is made once, and only read afterwards."""

from collections.abc import Iterable, Iterator
from typing import Any

import pytest

from tests.differential.lives import Life, live_on_branches, lives
from tests.differential.twin import Twin


@pytest.fixture(scope="session", autouse=True)
def readable_overlays() -> Iterator[None]:
    """Let pylance read and write overlays, which it does only if it is asked to."""
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("LANCE_ENABLE_UNSTABLE_DATA_OVERLAY_FILES", "1")
        yield


def sampled(some: Iterable[Life]) -> list[Any]:
    """Return lives as parameters, of which a run draws some."""
    return [pytest.param(life, marks=pytest.mark.sampled(3)) for life in some]


@pytest.fixture(scope="session", params=sampled(lives()), ids=str)
def twin(request, tmp_path_factory) -> Twin:
    """A table that had one of the lives, and what must be in it."""
    life: Life = request.param
    return life.live(tmp_path_factory.mktemp("life"))


ONE_FORMAT = [life for life in lives() if life.data_format == "2.1"]


@pytest.fixture(scope="session", params=sampled(ONE_FORMAT), ids=str)
def twin_of_one_format(request, tmp_path_factory) -> Twin:
    """As ``twin``: what becomes of rows is the same in all file formats."""
    life: Life = request.param
    return life.live(tmp_path_factory.mktemp("life"))


@pytest.fixture(scope="session", params=[False, True], ids=["addresses", "stable"])
def twins_by_branch(request, tmp_path_factory) -> dict[str | None, Twin]:
    """A table with branches, and what must be on each; None is the main branch."""
    uri = str(tmp_path_factory.mktemp("branches") / "table.lance")
    main = Twin.create(uri, 10, stable_row_ids=request.param)
    return {None: main} | live_on_branches(main)

from lance_explorer.widgets.trail import Place, Trail


def place(view="travel", version=1, row_id=None):
    return Place(view, {"version": version, "row_id": row_id})


def trail(*places):
    made = Trail(places[0])
    for one in places[1:]:
        made.visit(one)
    return made


def test_back_and_forward_go_where_one_has_been():
    visited = trail(place(), place("changes"), place("changes", row_id=7))
    assert visited.go(-1) == place("changes")
    assert visited.go(-1) == place()
    assert not visited.can_go_back
    assert visited.go(1) == place("changes")
    assert visited.go(1) == place("changes", row_id=7)
    assert not visited.can_go_forward


def test_moves_of_the_same_choice_are_one_step():
    visited = trail(place(version=45), *[place(version=v) for v in (44, 43, 42)])
    assert visited.go(-1) == place(version=45)
    assert not visited.can_go_back
    assert visited.go(1) == place(version=42)


def test_moves_of_another_choice_are_another_step():
    visited = trail(
        place(version=1), place(version=2), place(version=2, row_id=1), place(version=3, row_id=1)
    )
    assert visited.go(-1) == place(version=2, row_id=1)
    assert visited.go(-1) == place(version=2)
    assert visited.go(-1) == place(version=1)


def test_after_another_view_moves_are_a_new_step():
    visited = trail(place(version=1), place(version=2), place("row", 2), place("row", 3))
    assert visited.go(-1) == place("row", 2)


def test_a_slider_moved_back_to_where_it_began_leaves_no_step():
    visited = trail(place(version=45), place(version=44), place(version=45))
    assert not visited.can_go_back


def test_a_visit_after_going_back_ends_the_way_forward():
    visited = trail(place(), place("changes"), place("row"))
    visited.go(-1)
    visited.visit(place("lineage"))
    assert not visited.can_go_forward
    assert visited.go(-1) == place("changes")


def test_a_move_after_going_back_does_not_replace_where_one_went_back_to():
    visited = trail(place(version=1), place(version=2))
    visited.go(-1)
    visited.visit(place(version=3))
    assert visited.go(-1) == place(version=1)


def test_the_same_place_is_no_step():
    visited = trail(place(), place("changes"))
    visited.go(-1)
    visited.visit(place())
    assert visited.can_go_forward


def test_there_is_nothing_before_the_first_place():
    visited = trail(place())
    assert visited.go(-1) == visited.go(1) == place()


def test_the_oldest_places_are_forgotten():
    visited = trail(place(), *[place(f"view {number}") for number in range(500)])
    for _ in range(500):
        visited.go(-1)
    assert visited.place == place("view 300")

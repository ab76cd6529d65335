"""Events of a hub are ordered by their place, those of a daemon by their number."""

from __future__ import annotations

from quarterdeck.surfaces.client.places import by_place, events_by_place


def test_an_event_of_a_hub_is_ordered_by_its_place() -> None:
    assert by_place({"seq_no": 3, "place": 17}) == {"seq_no": 17, "log_seq_no": 3, "place": 17}
    assert events_by_place({"events": [{"seq_no": 3, "place": 17}], "next": "p17"}) == {
        "events": [{"seq_no": 17, "log_seq_no": 3, "place": 17}],
        "next": "p17",
    }


def test_what_is_of_a_daemon_stays_as_it_is() -> None:
    page = {"events": [{"seq_no": 3}], "next": None}
    assert events_by_place(page) is page
    assert events_by_place({"events": 5}) == {"events": 5}

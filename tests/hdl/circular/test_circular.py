"""Parameters of multi-way joins."""

import pytest

from streamjoin.hdl.base.parameters import ParameterError
from streamjoin.hdl.circular.parameters import CircularParameters


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"streams": 2}, "streams must be a whole number from 3 to 8, not 2"),
        ({"streams": "many"}, "streams must be a whole number from 3 to 8, not 'many'"),
        ({"window_s2": 0}, "window_s2 must be a whole number from 1 up, not 0"),
        ({"window_s4": 9}, "there is no stream for window_s4: leave it out, or raise streams to 4"),
        ({"lanes": 0}, "lanes must be a whole number from 1 up, not 0"),
        ({"flight": 0}, "flight must be a whole number from 1 up, not 0"),
        ({"merger_queue": 1}, "merger_queue must be at least 2, not 1"),
        ({"fan": 1}, "fan must be at least 2, not 1"),
        ({"discard": 5}, "discard must be a whole number from 1 to buffer=4, not 5"),
        ({"window_r": 4}, "there is no parameter window_r; there are window, streams, window_s1"),
    ],
)
def test_one_sentence_that_names_the_fix(given, sentence):
    with pytest.raises(ParameterError, match=sentence) as caught:
        CircularParameters.parse(given)
    assert "\n" not in str(caught.value)


def test_window_sets_the_windows_of_all_streams_there_are():
    parameters = CircularParameters.parse({"streams": "4", "window": "0x20", "window_s3": 7})
    assert parameters.streams == ("S1", "S2", "S3", "S4")
    assert parameters.windows == (32, 32, 7, 32)
    assert parameters.as_dict()["streams"] == 4
    assert list(parameters.layout.result.members) == ["key", *(f"payload_s{n}" for n in range(1, 5))]

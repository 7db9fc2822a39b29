"""Every design with small parameters, in the variants whose hardware differs: for what is done to all of them."""

SMALL = {"key_width": 8, "payload_width": 12}
DESIGNS = {
    "parallel": ("handshake", {"cores": 4, "window_r": 6, "window_s": 4}),
    "parallel-drop": (
        "handshake",
        {"cores": 2, "window": 5, "span": 20, "on_full": "drop", "predicate": "band:1", "match_queue": 1},
    ),
    "sequential": (
        "handshake",
        {"cores": 2, "window_r": 9, "window_s": 12, "scan": "sequential", "storage": "memory", "merger": "three-state"},
    ),
    "async": ("handshake-async", {"cores": 3, "window_r": 6, "window_s": 4}),
    "async-drop": (
        "handshake-async",
        {"cores": 2, "window": 5, "span": 20, "on_full": "drop", "predicate": "band:1", "lanes": 2, "core_queue": 1},
    ),
    "hash": ("llhj", {"cores": 3, "window_r": 6, "window_s": 4, "index": "hash"}),
    "punctuation": (
        "llhj",
        {"cores": 2, "window": 3, "span": 20, "on_full": "drop", "predicate": "band:1", "lanes": 2, "punctuation": 3},
    ),
    "ordered": ("llhj", {"cores": 2, "window_r": 3, "window_s": 4, "ordered": "true", "outstanding": 32}),
    "ordered-drop": (
        "llhj",
        {"cores": 2, "window": 2, "on_full": "drop", "ordered": "true", "outstanding": 8, "punctuation": 9}
        | {"index": "hash", "buckets": 1, "comparators": "apart"},
    ),
    "bisort": (
        "bisort",
        {"window_r": 6, "window_s": 4, "subwindow": 8, "partitions": 2, "batch": 3, "mergers": 2, "collect": 30},
    ),
    "nested-loop": ("nested-loop", {"window_r": 9, "window_s": 7, "predicate": "band2:1,2"}),
    "nested-loop-drop": ("nested-loop", {"window": 4, "span_r": 9, "span_s": 4, "on_full": "drop", "predicate": "lt"}),
    "circular": ("circular", {"window_s1": 4, "window_s2": 3, "window_s3": 5, "lanes": 2, "flight": 5, "buffer": 1}),
    "stashed": ("stashed", {"window_s1": 4, "window_s2": 3, "window_s3": 5, "stash": 6, "lanes": 2, "flight": 5}),
    "hash-multiway": ("circular", {"window": 3, "index": "hash", "buckets": 2}),
    "records": ("bisort", {"window": 8, "output": "records", "bandwidth": 9, "batch": 4}),
    "five-streams": ("circular", {"streams": 5, "window": 2}),
    "circular-drop": (
        "circular",
        {"streams": 4, "window": 2, "span": 20, "on_full": "drop", "predicate": "band:1", "flight": 3},
    ),
    "hash-join": ("hash", {"window_r": 6, "window_s": 4, "buckets": 1, "probe_queue": 1, "result_queue": 1}),
    "hash-join-drop": ("hash", {"window": 5, "span": 20, "on_full": "drop", "predicate": "band:1", "result_queue": 2}),
    "hash-wide": ("hash", {"width": 2, "window_r": 6, "window_s": 4, "results": 2}),
    "hash-wide-drop": ("hash", {"width": 4, "window": 5, "span": 20, "on_full": "drop", "lane_queue": 2}),
}

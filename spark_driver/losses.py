"""What lanes lose by overflow: counted in their state, batch by batch, and read back from where Spark keeps it.

The state of a micro-batch and its results count together or not at all, so these figures are those of the results that
are there, whichever runs made them.
"""

import json
from dataclasses import asdict, dataclass

from pyspark.sql import SparkSession

from streamjoin.reference.overflow import most_rooms


@dataclass(frozen=True)
class Losses:
    """Of a lane so far, or of all lanes.

    Attributes
    ----------
    overflows, missing
        Tuples that left a window too early, and results that are missing because of it.
    rooms
        For each stream the room that is needed, where windows are time-based.
    """

    overflows: int = 0
    missing: int = 0
    rooms: tuple[int, ...] = ()

    def __add__(self, other: "Losses") -> "Losses":
        rooms = most_rooms((self.rooms, other.rooms))
        return Losses(self.overflows + other.overflows, self.missing + other.missing, rooms)

    def to_text(self) -> str:
        """As JSON: Spark's state has no lists."""
        return json.dumps(asdict(self))

    @classmethod
    def from_text(cls, text: str) -> "Losses":
        """What `to_text` wrote."""
        values = json.loads(text)
        return cls(**{**values, "rooms": tuple(values["rooms"])})


def losses_of(spark: SparkSession, checkpoint: str) -> Losses:
    """Of all lanes together, as the checkpoint's last micro-batch left them."""
    lanes = spark.read.format("statestore").load(checkpoint).select("value.groupState.losses").collect()
    return sum((Losses.from_text(lane.losses) for lane in lanes), Losses())

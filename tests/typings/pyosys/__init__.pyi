from typing import Any

libyosys: Any

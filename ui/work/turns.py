"""Give visitors fair turns: the visitor who has waited longest gets the next piece of work."""

from __future__ import annotations

import heapq
from collections import OrderedDict, deque
from collections.abc import Iterator
from typing import Final, Generic, TypeVar

Item = TypeVar("Item")
_MAX_CACHED: Final = 1_000


class Turns(Generic[Item]):
    """A queue in which visitors take turns; the pieces of one visitor stay in order.

    Not safe for threads.

    >>> turns = Turns[str]()
    >>> for visitor, item in (("a", "a1"), ("a", "a2"), ("b", "b1")):
    ...     turns.add(visitor, item)
    >>> list(turns), turns.take(), list(turns)
    (['a1', 'b1', 'a2'], 'a1', ['b1', 'a2'])
    """

    def __init__(self) -> None:
        self._waiting: dict[str, deque[tuple[int, Item]]] = {}
        self._last_turn: OrderedDict[str, int] = OrderedDict()
        self._n_added = 0
        self._n_taken = 0

    def add(self, visitor: str, item: Item) -> None:
        """Add an item behind the others of its visitor."""
        self._n_added += 1
        self._waiting.setdefault(visitor, deque()).append((self._n_added, item))

    def take(self) -> Item | None:
        """Remove and return the next item; None if nothing waits."""
        order = self._keep_firsts()
        if not order:
            return None
        _, _, visitor = order[0]
        _, item = self._waiting[visitor].popleft()
        if not self._waiting[visitor]:
            del self._waiting[visitor]
        self._n_taken += 1
        self._last_turn[visitor] = self._n_taken
        self._last_turn.move_to_end(visitor)
        if len(self._last_turn) > _MAX_CACHED:
            self._last_turn.popitem(last=False)
        return item

    def remove(self, visitor: str, item: Item) -> None:
        """Remove an item, if it waits."""
        left = [pair for pair in self._waiting.get(visitor, ()) if pair[1] is not item]
        if left:
            self._waiting[visitor] = deque(left)
        else:
            self._waiting.pop(visitor, None)

    def __iter__(self) -> Iterator[Item]:
        """Yield the items in the order in which they would be taken, if none were added."""
        order = self._keep_firsts()
        rests = {visitor: deque(items) for visitor, items in self._waiting.items()}
        turn = self._n_taken
        while order:
            _, _, visitor = heapq.heappop(order)
            rest = rests[visitor]
            yield rest.popleft()[1]
            turn += 1
            if rest:
                heapq.heappush(order, (turn, rest[0][0], visitor))

    def __len__(self) -> int:
        return sum(map(len, self._waiting.values()))

    def _keep_firsts(self) -> list[tuple[int, int, str]]:
        """Return a heap of each visitor's last turn, the number of their first item, and name."""
        order = [
            (self._last_turn.get(visitor, 0), items[0][0], visitor)
            for visitor, items in self._waiting.items()
        ]
        heapq.heapify(order)
        return order

"""The coordinator's policy against random events: every box is sent, no worker has two legs, and every search ends."""

from __future__ import annotations

from math import inf
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from eqspec.cluster.policy import Action, Drop, Finish, Limits, Policy, Recall, Send

LIMITS = Limits(longest=10.0, each=0.01, first=0.5, recall=1.0, grace=20.0, deaths=3)


class World:
    """Searches whose boxes are counted, and workers; time goes on by steps of half a second."""

    def __init__(self, boxes: list[int], deadline: float, allowed: float) -> None:
        self.policy, self.now = Policy(LIMITS), 0.0
        self.waiting = dict(enumerate(boxes))
        self.out = dict[int, Send]()
        self.lost = dict[int, int]()
        self.workers = set[str]()
        self.over = dict[int, str | None]()
        self.sent = dict.fromkeys(self.waiting, 0)
        for search, count in self.waiting.items():
            self.policy.begin(search, count, deadline, allowed)

    def act(self) -> list[Action]:
        actions = self.policy.next(self.now)
        for action in actions:
            match action:
                case Send():
                    assert action.worker in self.workers
                    assert action.worker not in {leg.worker for leg in self.out.values()}
                    assert 0 < action.seconds <= LIMITS.longest
                    assert action.limit is None or action.limit >= 1
                    if action.again is None:
                        assert 1 <= action.boxes <= self.waiting[action.search]
                        self.waiting[action.search] -= action.boxes
                    else:
                        assert self.lost.pop(action.again) == action.boxes
                    self.sent[action.search] += 1
                    self.out[action.leg] = action
                case Recall(legs):
                    assert set(legs) <= set(self.out)
                case Drop(leg):
                    self.lost[leg] = self.out.pop(leg).boxes
                case Finish(search, reason):
                    assert all(leg.search != search for leg in self.out.values())
                    if reason is None:
                        assert not self.waiting[search]
                    self.over[search] = reason
        return actions

    def answer(self, leg: int, left: int, boxes: int) -> None:
        sent = self.out.pop(leg)
        self.waiting[sent.search] += left
        self.policy.answered(leg, self.waiting[sent.search], boxes, self.now)

    def lose(self, leg: int) -> None:
        self.lost[leg] = self.out.pop(leg).boxes
        self.policy.lost(leg)


@given(
    st.lists(st.integers(1, 40), min_size=1, max_size=4),
    st.integers(1, 6),
    st.sampled_from([inf, 15.0]),
    st.sampled_from([inf, 60.0]),
    st.randoms(use_true_random=False),
)
def test_whatever_happens(boxes: list[int], workers: int, deadline: float, allowed: float, random: Random) -> None:
    world = World(boxes, deadline, allowed)
    grow = 60
    for step in range(2000):
        world.now += 0.5
        if len(world.workers) < workers and random.random() < 0.5:
            world.workers.add(f"w{step}")
            world.policy.joined(f"w{step}")
        world.act()
        for leg in list(world.out):
            if leg not in world.out:
                continue
            chance = random.random()
            if chance < 0.4:
                more = random.randint(0, 5) if grow > 0 else 0
                grow -= more
                world.answer(leg, more, random.randint(1, world.out[leg].limit or 50))
            elif chance < 0.45:
                world.lose(leg)
            elif chance < 0.5:
                gone = world.out[leg].worker
                world.workers.discard(gone)
                for lost in world.policy.left(gone):
                    world.lose(lost)
        if len(world.over) == len(boxes):
            break
    world.act()
    assert len(world.over) == len(boxes), "every search ends"
    for reason in world.over.values():
        assert reason in (None, "error", "timeout" if deadline < inf else None, "boxes" if allowed < inf else None)


def test_many_tasks_get_a_worker_each_and_few_get_many() -> None:
    world = World([8] * 5, inf, inf)
    for name in ("a", "b", "c"):
        world.workers.add(name)
        world.policy.joined(name)
    sends = [action for action in world.act() if isinstance(action, Send)]
    assert [action.search for action in sends] == [0, 1, 2]
    world = World([8], inf, inf)
    for name in ("a", "b", "c", "d"):
        world.workers.add(name)
        world.policy.joined(name)
    sends = [action for action in world.act() if isinstance(action, Send)]
    assert len(sends) == 4
    assert sum(action.boxes for action in sends) <= 8


def test_idle_workers_call_back_the_longest_leg() -> None:
    world = World([1], inf, inf)
    for name in ("a", "b"):
        world.workers.add(name)
        world.policy.joined(name)
    (send,) = [action for action in world.act() if isinstance(action, Send)]
    world.now = 0.25
    assert not world.act()
    world.now = 0.5  # for the first leg of a search all others wait
    assert world.act() == [Recall((send.leg,))]
    world.now = 1.0
    assert not world.act(), "once"
    # It brought nothing to share, so the next one is left alone for longer.
    world.answer(send.leg, 1, 10)
    for sent, called in ((1.0, 2.0), (2.0, 4.0)):
        (send,) = [action for action in world.act() if isinstance(action, Send)]
        assert world.now == sent
        world.now = called - 0.25
        assert not world.act()
        world.now = called
        assert world.act() == [Recall((send.leg,))]
        world.answer(send.leg, 1, 10)
    # One that brings boxes is followed by legs that may be called back after the usual time, of others here.
    sends = [action for action in world.act() if isinstance(action, Send)]
    world.now += 4.0
    assert world.act() == [Recall((sends[0].leg,))]
    world.answer(sends[0].leg, 3, 10)
    sends = [action for action in world.act() if isinstance(action, Send)]
    assert {action.worker for action in sends} == {"a", "b"}
    world.answer(sends[0].leg, 0, 10)
    assert [type(action) for action in world.act()] == [Send]


def test_boxes_that_may_be_bounded_are_divided_among_workers_without_a_leg() -> None:
    world = World([1], inf, 1000)
    for name in ("a", "b"):
        world.workers.add(name)
        world.policy.joined(name)
    (first,) = [action for action in world.act() if isinstance(action, Send)]
    assert first.limit == 500
    world.answer(first.leg, 8, 100)
    sends = [action for action in world.act() if isinstance(action, Send)]
    assert [action.limit for action in sends] == [450, 450]
    # Whoever closes its part early leaves its boxes to itself: the other one has its own.
    world.answer(sends[0].leg, 0, 50)
    (again,) = [action for action in world.act() if isinstance(action, Send)]
    assert again.limit == 400


def test_many_idle_workers_call_back_no_more_than_the_coordinator_keeps_up_with() -> None:
    world = World([150], inf, inf)
    for number in range(300):
        world.workers.add(f"w{number}")
        world.policy.joined(f"w{number}")
    sends = [action for action in world.act() if isinstance(action, Send)]
    assert len(sends) == 150
    recalled = list[int]()
    for now in (2.0, 2.2, 2.7):
        world.now = now
        recalled.append(sum(len(action.legs) for action in world.act() if isinstance(action, Recall)))
    # A second's worth of legs at once, then one in each hundredth, and each leg once.
    assert recalled == [100, 20, 30]


def test_a_share_is_given_up_when_it_was_lost_three_times() -> None:
    world = World([1], inf, inf)
    for turn in range(3):
        world.workers.add(f"w{turn}")
        world.policy.joined(f"w{turn}")
        (send,) = [action for action in world.act() if isinstance(action, Send)]
        for leg in world.policy.left(send.worker):
            world.lose(leg)
    assert world.act() == [Finish(0, "error")]


def test_a_worker_that_is_late_is_given_nothing_until_it_answers() -> None:
    world = World([1], inf, inf)
    world.workers.add("a")
    world.policy.joined("a")
    (send,) = [action for action in world.act() if isinstance(action, Send)]
    world.now = send.seconds + LIMITS.grace + 0.5
    assert Drop(send.leg) in world.act()
    world.now += 1
    assert not world.act()
    world.policy.returned(send.leg)
    (again,) = [action for action in world.act() if isinstance(action, Send)]
    assert (again.worker, again.again) == ("a", send.leg)


def test_no_time_is_a_reason() -> None:
    world = World([1], 0.0, inf)
    world.workers.add("a")
    world.policy.joined("a")
    assert world.act() == [Finish(0, "timeout")]

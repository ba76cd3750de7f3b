"""The box of inputs from which engines are tried: tiny pools, few tokens, prompts that overlap.

Rules.
1. Real schedulers fail on one to three requests, a pool of one to eight blocks and blocks of two
   or four tokens; so inputs are drawn from there, and from a vocabulary of one to three tokens.
2. Half of the prompts begin as an earlier one does: caches of prefixes are where most goes wrong.
3. Half of the inputs come all at once; in the others each request comes after some steps.
4. Only what the engine promises to serve is asked of it. What can never fit is tried apart.
5. An input is an immutable plan; the same plan leads to the same run.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from random import Random

from schedproof.engines.adapter import EngineAdapter, Request, Setup
from schedproof.subjects.actions import Abort, Action, EngineEnqueue
from schedproof.subjects.contract import Config, Limits, SubjectError

BLOCKS_MAX, REQUESTS_MAX, SEQS_MAX, PROMPT_MAX, NEW_MAX, VOCABULARY_MAX = 8, 3, 3, 9, 7, 3
TRIES, DRAWS_MAX = 20, 2000
TOKENS_UNLIMITED = 64
AGING_INTERVAL = 2


@dataclass(frozen=True)
class Plan:
    """One input: the size of the engine, requests, and after how many steps each comes.

    `aborts` are (steps, request id) pairs. Where steps are delivered later, deliveries count as
    steps, too, and `in_flight` is the most that are decided at a time.
    """

    setup: Setup
    policy: str
    requests: tuple[tuple[int, Request], ...]
    aborts: tuple[tuple[int, int], ...] = ()
    in_flight: int = 1

    @property
    def config(self) -> Config:
        """The set-up of a subject."""
        setup = self.setup
        return Config(self.policy, setup.blocks, AGING_INTERVAL, Limits(*setup[1:]))

    @property
    def due(self) -> dict[int, list[Action]]:
        """What is done after how many steps."""
        due: dict[int, list[Action]] = {}
        for after, request in self.requests:
            due.setdefault(after, []).append(EngineEnqueue.of(*request))
        for after, request_id in self.aborts:
            due.setdefault(after, []).append(Abort(request_id))
        return due

    @property
    def last(self) -> int:
        """The number of steps after which nothing more is done to it."""
        return max([after for after, _ in (*self.requests, *self.aborts)], default=0)

    @property
    def size(self) -> tuple[int, ...]:
        """How much there is to read, the most tiresome first."""
        requests = [request for _, request in self.requests]
        return (
            len(requests) + len(self.aborts),
            sum(len(r.token_ids) + r.max_new_tokens for r in requests),
            self.last,
            self.in_flight,
            sum(1 for r in requests if r.reuses is not None),
            sum(after for after, _ in self.requests),
            *self.setup,
            sum(sum(r.token_ids) + r.priority for r in requests),
        )

    def served_by(self, adapter: EngineAdapter) -> bool:
        """Whether the engine promises to serve all of it."""
        setup = self.setup
        if not self.requests or setup.max_num_seqs > setup.max_num_batched_tokens:
            return False
        if not adapter.limits_tokens and setup.max_num_batched_tokens != TOKENS_UNLIMITED:
            return False
        if setup.block_size not in adapter.block_sizes or setup.blocks < adapter.smallest_blocks:
            return False
        return all(
            request.token_ids and request.max_new_tokens > 0 and adapter.takes(self.setup, request)
            for _, request in self.requests
        )


def drawn(random: Random, adapter: EngineAdapter, requests_max: int, blocks_max: int) -> Plan:
    """An input at random."""
    for _ in range(DRAWS_MAX):
        setup = _setup(random, adapter, blocks_max)
        vocabulary = random.randint(1, VOCABULARY_MAX)
        at_once = random.random() < 0.5
        requests: list[tuple[int, Request]] = []
        for request_id in range(random.randint(1, requests_max)):
            earlier = [request for _, request in requests]
            request = _request(random, adapter, setup, request_id, vocabulary, earlier)
            if request is None:
                break
            requests.append((0 if at_once else random.randint(0, 5), request))
        if requests:
            aborts = _aborts(random, adapter, requests)
            in_flight = random.randint(1, adapter.steps_in_flight)
            plan = Plan(setup, adapter.policy, tuple(requests), aborts, in_flight)
            return plan if at_once else in_order(plan)
    raise SubjectError("contract", "contract.takes_nothing", {"draws": DRAWS_MAX})


def in_order(plan: Plan) -> Plan:
    """The same plan with its requests in the order of their arrival, numbered from 0."""
    ordered = sorted(plan.requests, key=lambda pair: pair[0])
    number = {request.request_id: place for place, (_, request) in enumerate(ordered)}
    requests = [(after, _renumbered(r, number)) for after, r in ordered]
    aborts = sorted((after, number[i]) for after, i in plan.aborts if i in number)
    return replace(plan, requests=tuple(requests), aborts=tuple(aborts))


def _renumbered(request: Request, number: dict[int, int]) -> Request:
    """The request under its new number; one that was left out or comes later has no id to reuse."""
    mine, reuses = number[request.request_id], request.reuses
    again = None if reuses is None else number.get(reuses)
    return request._replace(request_id=mine, reuses=again if (again or 0) < mine else None)


def _setup(random: Random, adapter: EngineAdapter, blocks_max: int) -> Setup:
    size = random.choice(adapter.block_sizes)
    blocks = random.randint(adapter.smallest_blocks, max(blocks_max, adapter.smallest_blocks))
    few = random.random() < 0.5
    tokens = random.randint(1, 8) if few else random.randint(4, 32)
    seqs = random.randint(1, SEQS_MAX)
    limit = max(seqs, tokens) if adapter.limits_tokens else TOKENS_UNLIMITED
    return Setup(blocks, size, seqs, limit)


def _request(
    random: Random,
    adapter: EngineAdapter,
    setup: Setup,
    request_id: int,
    vocabulary: int,
    earlier: list[Request],
) -> Request | None:
    """A request that the engine takes; sizes come first, since most are refused for them."""
    for _ in range(TRIES):
        shared: tuple[int, ...] = ()
        if earlier and random.random() < 0.5:
            shared = random.choice(earlier).token_ids
            shared = shared[: random.randint(1, len(shared))]
        length = min(len(shared) + random.randint(1, PROMPT_MAX), PROMPT_MAX)
        priority = random.randint(0, 2) if adapter.uses_priority else 0
        request = Request(request_id, (0,) * length, random.randint(1, NEW_MAX), priority)
        if not adapter.takes(setup, request):
            continue
        own = random.choices(range(vocabulary), k=length - len(shared))
        request = request._replace(token_ids=(*shared, *own))
        if adapter.reuses_ids and earlier and random.random() < 0.3:
            request = request._replace(reuses=random.choice(earlier).request_id)
        if adapter.takes(setup, request):
            return request
    return None


def _aborts(
    random: Random, adapter: EngineAdapter, requests: list[tuple[int, Request]]
) -> tuple[tuple[int, int], ...]:
    if not adapter.can_abort or random.random() < 0.6:
        return ()
    after, request = random.choice(requests)
    return ((after + random.randint(0, 5), request.request_id),)

"""One pair on one box, without a spec."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from os import PathLike
from typing import TYPE_CHECKING, Literal, Unpack

from numpy.typing import ArrayLike

from eqspec.api.box_task import Bounds, Grid, Scores, box_task
from eqspec.api.cache_choice import open_cache
from eqspec.api.certifying import certifying
from eqspec.api.cluster_choice import engine_on
from eqspec.api.progress import shown
from eqspec.api.settings import Keywords, options_with
from eqspec.networks import Arithmetic, Model, as_network
from eqspec.property import Property
from eqspec.run.monitor import Monitor, Progress
from eqspec.run.options import Options
from eqspec.run.runner import Runner
from eqspec.tasks.result import Result
from eqspec.tasks.task import Task

if TYPE_CHECKING:
    from distributed import Client


def verify(
    reference: Model,
    candidate: Model,
    lower: Bounds,
    upper: Bounds,
    property: Property,  # noqa: A002 - the word of the field
    *,
    constraints: tuple[ArrayLike, ArrayLike] | None = None,
    grid: Grid | None = None,
    decide: Literal["max", "min"] = "max",
    arithmetic: Arithmetic = "real",
    scores: Scores | None = None,
    on_progress: Callable[[Progress], bool | None] | None = None,
    progress: bool | None = None,
    cache: bool | str | PathLike[str] = False,
    resume: bool = False,
    certify: str | PathLike[str] | None = None,
    client: Client | str | None = None,
    options: Options | None = None,
    **settings: Unpack[Keywords],
) -> Result:
    """Decide whether a property holds at every input of a box.

    Args:
        reference: a network with I inputs and O outputs: a path (.onnx, .nnet), an `onnx.ModelProto`, a torch module, a
            Keras model, a scikit-learn MLP, or what `read_network` or `as_network` returned.
        candidate: the same for the network that is to behave like it; it need not be of the same kind.
        lower: lower corner of the box, I numbers in the units the networks take. Floats are taken exactly as they are;
            a sequence may also hold Fractions, or text such as "1/3". One number stands for all of them.
        upper: upper corner.
        property: `Epsilon(0.05)`, `Top1()`, `Margin(0.5)`, `Confidence(0.9)` or `Linear(...)`.
        constraints: A (q, I) and b (q,): only inputs with A x <= b count.
        grid: a step for all inputs, or one for each with None where there is none: only inputs that are whole multiples
            of it count. A `Lattice` in place of a step has another origin than 0. Floats are taken exactly, too.
        decide: whether the largest or the smallest score decides.
        arithmetic: "real", or "float32" for a claim about every float32 runtime, in any order of summation.
        scores: "logits" says that scores are logits: a network that ends in Softmax is compared without it.
            "probabilities" says that a distance, inequality or margin is about what such a network gives. `Epsilon`
            and `Linear` of such a network need one of the two.
        on_progress: called about ten times a second; returning True stops, with what is known by then.
        progress: whether to show what runs. None: in notebooks, unless `on_progress` is told; True: on a terminal, too.
        cache: True, or a folder, to keep the result, and to take one that is kept.
        resume: go on where an earlier search stopped that was interrupted or ran out of time.
        certify: a folder for the certificate of the result, `verify-DIGEST.eqcert` with a digest of the networks and
            the claim; the result then says where it is, or why there is none. Models in memory are kept beside it, as
            the ONNX files that were read.
        client: a `distributed.Client`, by the workers of whose cluster the search is run; it is neither started nor
            closed here.
        options: how to search, as `eqspec.Options`.
        settings: `timeout`, `threads`, `memory`, `domain`, `lp`, `milp` and `since`, each in place of what
            `options` says.

    Returns:
        The result. `equivalent` is a theorem about the real numbers; `different` comes with a `witness` that was
        checked exactly; `unknown` says with `reason` which limit was met.

    Raises:
        InputError: an argument has the wrong shape or an impossible value, float32 could overflow, or a distance of
            networks that end in Softmax does not say whether it is one of logits.
        NetworkError: a file cannot be read exactly, or onnxruntime answers something else than what was read.

    Running out of a budget never raises.
    """
    task = box_task(
        (as_network(reference), as_network(candidate)),
        (lower, upper),
        property,
        constraints=constraints,
        grid=grid,
        decide=decide,
        arithmetic=arithmetic,
        scores=scores,
    )
    with (
        engine_on(client) as engine,
        shown(progress, 1) if on_progress is None else nullcontext(_Listener(on_progress)) as told,
        certifying(options_with(options, settings), certify, by_claim=True) as chosen,
    ):
        results = open_cache(cache, resume=resume)
        runner = Runner(chosen, results, engine)
        if told is not None:
            told.started(task)
        result = runner.run(task, told)
        if told is not None:
            told.finished(task, result)
        if results is not None:
            results.store.tidy()
        return result


class _Listener(Monitor):
    """Hands progress on; an answer of True stops the search as Ctrl-C does."""

    def __init__(self, hear: Callable[[Progress], bool | None]) -> None:
        self._hear = hear

    def progress(self, task: Task, progress: Progress) -> None:  # noqa: ARG002
        if self._hear(progress):
            raise KeyboardInterrupt

"""Where cross-validation is computed: in this process, in others, or on a cluster."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, Final

from joblib import Parallel, parallel_config

from classifiers.errors import MissingPackageError, StudyError

BACKENDS: Final = ("loky", "threading", "dask", "ray")


@dataclass(frozen=True)
class Workers:
    """How many jobs run at a time, and where; results do not depend on it."""

    jobs: int = 1
    backend: str = "loky"
    """One of BACKENDS."""
    cluster: str | None = None
    """Address of a Dask scheduler, `tcp://host:8786`; None starts local workers for `dask`."""
    timeout_s: float = 10.0
    """Seconds that the scheduler may take to answer."""

    def __post_init__(self) -> None:
        """Refuse what cannot be run, before anything is computed."""
        if self.backend not in BACKENDS:
            raise StudyError(f"backend {self.backend!r} is none of {', '.join(BACKENDS)}")
        if self.cluster and self.backend not in {"dask", "loky"}:
            raise StudyError(f"a cluster's address is for Dask, not for backend {self.backend!r}")
        if self.is_dask and not find_spec("distributed"):
            raise MissingPackageError("distributed", "cluster")
        if self.backend == "ray" and not find_spec("ray"):
            raise MissingPackageError("ray")

    @property
    def is_dask(self) -> bool:
        """Return whether the jobs go to a Dask cluster."""
        return self.backend == "dask" or self.cluster is not None

    @contextlib.contextmanager
    def open(self) -> Iterator[Callable[[Iterable[Any]], Iterator[Any]]]:
        """A function that computes delayed calls and yields their results as they come.

        The calls are taken from their iterable only shortly before they are computed.
        """
        with contextlib.ExitStack() as stack:
            stack.enter_context(warnings.catch_warnings())
            # Workers that loaded dictionaries may be replaced: nothing is lost by that.
            warnings.filterwarnings("ignore", "A worker stopped while some jobs", UserWarning)
            if self.is_dask:
                stack.enter_context(_dask(self))
            elif self.backend == "ray":
                _register_ray()
            name = "dask" if self.is_dask else self.backend
            stack.enter_context(parallel_config(backend=name, n_jobs=self.jobs))
            # Calls take tenths of a second and more: batches would only delay the last ones.
            yield Parallel(
                n_jobs=self.jobs,
                return_as="generator_unordered",
                batch_size=1,
                pre_dispatch="2*n_jobs",
            )


@contextlib.contextmanager
def _dask(workers: Workers) -> Iterator[None]:
    from distributed import Client, LocalCluster

    with contextlib.ExitStack() as stack:
        target: Any = workers.cluster
        if target is None:
            target = stack.enter_context(
                # distributed is untyped here
                LocalCluster(  # type: ignore[no-untyped-call]
                    n_workers=workers.jobs, threads_per_worker=1, dashboard_address=None
                )
            )
        try:
            # distributed is untyped here
            stack.enter_context(Client(target, timeout=workers.timeout_s))  # type: ignore[no-untyped-call]
        except (OSError, ValueError) as error:
            raise StudyError(f"no Dask scheduler answers at {workers.cluster} ({error})") from error
        yield


def _register_ray() -> None:
    # Ray is none of the project's packages.
    from ray.util.joblib import register_ray  # type: ignore[import-not-found]

    register_ray()

"""Computes cross-validation in this process, in processes of this machine or on a Dask cluster."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

from joblib import Parallel, parallel_config

from classifiers.errors import MissingPackageError, StudyError


@dataclass(frozen=True)
class Workers:
    """The number and place of parallel jobs; results do not depend on it."""

    jobs: int = 1
    """Processes; 1 computes in this process."""
    cluster: str | None = None
    """Address of a Dask scheduler, `tcp://host:8786`; None computes on this machine."""
    timeout_s: float = 10.0
    """Seconds that the scheduler may take to answer."""

    def __post_init__(self) -> None:
        """Raise MissingPackageError if the package for a cluster is missing."""
        if self.cluster and not find_spec("distributed"):
            raise MissingPackageError("distributed", "cluster")

    @contextlib.contextmanager
    def open(self) -> Iterator[Callable[[Iterable[Any]], Iterator[Any]]]:
        """A function that computes delayed calls and yields each result when it is ready.

        It takes a call from the iterable shortly before it computes the call. StudyError if no
        scheduler answers.
        """
        with contextlib.ExitStack() as stack:
            stack.enter_context(warnings.catch_warnings())
            # joblib may replace workers that read dictionaries; no result is lost then.
            warnings.filterwarnings("ignore", "A worker stopped while some jobs", UserWarning)
            if self.cluster:
                stack.enter_context(_dask_client(self.cluster, self.timeout_s))
            backend = "dask" if self.cluster else "loky"
            stack.enter_context(parallel_config(backend=backend, n_jobs=self.jobs))
            # Calls take a tenth of a second or more, so batches would only delay the last ones.
            yield Parallel(
                n_jobs=self.jobs,
                return_as="generator_unordered",
                batch_size=1,
                pre_dispatch="2*n_jobs",
            )


@contextlib.contextmanager
def _dask_client(cluster: str, timeout_s: float) -> Iterator[None]:
    from distributed import Client

    with contextlib.ExitStack() as stack:
        try:
            # distributed is untyped here
            stack.enter_context(Client(cluster, timeout=timeout_s))  # type: ignore[no-untyped-call]
        except (OSError, ValueError) as error:
            raise StudyError(f"no Dask scheduler answers at {cluster} ({error})") from error
        yield

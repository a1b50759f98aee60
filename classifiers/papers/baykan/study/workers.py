"""Computes cross-validation in this process or in processes of this machine."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from joblib import Parallel, parallel_config


@dataclass(frozen=True)
class Workers:
    """The number and place of parallel jobs; results do not depend on it."""

    jobs: int = 1
    """Processes; 1 computes in this process."""

    @contextlib.contextmanager
    def open(self) -> Iterator[Callable[[Iterable[Any]], Iterator[Any]]]:
        """A function that computes delayed calls and yields each result when it is ready.

        It takes a call from the iterable shortly before it computes the call.
        """
        with contextlib.ExitStack() as stack:
            stack.enter_context(warnings.catch_warnings())
            # joblib may replace workers that read dictionaries; no result is lost then.
            warnings.filterwarnings("ignore", "A worker stopped while some jobs", UserWarning)
            stack.enter_context(parallel_config(backend="loky", n_jobs=self.jobs))
            # Calls take a tenth of a second or more, so batches would only delay the last ones.
            yield Parallel(
                n_jobs=self.jobs,
                return_as="generator_unordered",
                batch_size=1,
                pre_dispatch="2*n_jobs",
            )

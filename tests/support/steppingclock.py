"""Runs a command whose machine's clock is set back and forth by an hour all the time.

    python -m tests.support.steppingclock SECONDS scrapy crawl langfocus ...

The clock jumps every SECONDS seconds, by 0, -1, +1 and -2 hours from the true time. What imports
`time.time` before this module would not notice, so this is the first module of the process.
"""

import runpy
import sys
import time

HOUR_S = 3600.0
STEPS = (0.0, -HOUR_S, HOUR_S, -2 * HOUR_S)


def main() -> None:
    every_s, module, *arguments = sys.argv[1:]
    wall, began_at = time.time, time.monotonic()

    def stepping() -> float:
        step = int((time.monotonic() - began_at) / float(every_s))
        return wall() + STEPS[step % len(STEPS)]

    time.time = stepping
    sys.argv = [module, *arguments]
    runpy.run_module(module, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()

"""A Web generated to measured quantities: those of Tamura 2007, or of any Web like it.

How each quantity comes about:

- **Counts** (2.1, 3.1) of pages, vertices, servers and relevant pages are exact; links are
  within 1 %, since a page that has nothing new to link to has fewer.
- **Table 1**: servers are put under the target's top-level domain until its relevant and its other
  pages are there, so the shares miss by a part of one server.
- **Tables 4 and 5** make a plan of links: how many lead from relevant pages, from other pages of
  relevant servers and from pages of other servers to each kind of page, on the same server and on
  others. The rest (links to URLs that were never fetched are in Table 5 only)
  is divided in proportion. Pages get links of each kind in proportion to an activity of their own,
  lognormal, as far as their server has pages for them.
- **Fig. 1**: relevant and other pages get distances from the seeds in the shares that
  `pages_by_distance` and `relevant_by_distance` ask for; pages of one server tend to be equally
  far. Each page has a parent one step nearer, and no link skips a step.
- **Fig. 2 and the misses of Fig. 4**: some relevant pages are linked from irrelevant ones only:
  single ones on servers with relevant pages elsewhere, and islands, whole servers behind a row of
  irrelevant pages. Their distances from the seeds are drawn so that within each distance they have
  the share that `hidden_by_distance` asks for; the row begins as many links before the first of
  them as it is long. How long it is follows `detour_ratio`; how many irrelevant pages of an island
  are found before its first relevant one has a long tail, so that some islands outlast any
  tolerance. `remote_islands` of them are known from irrelevant servers only.
- **Harvest rate** (5.2): relevant pages link to `linked_other_pages` different irrelevant ones. A
  hard focused crawl downloads these beside relevant pages, 30 % of some two million.

The paper shows its figures as plots, not as numbers. The defaults for Figures 1, 2 and 4 are curves
that agree with its text. Sizes of servers are lognormal, unlike in the paper, which does not give
their distribution.
"""

from crawler.simulate.measures import WebMeasures
from crawler.simulate.webgraph import WebGraph


def generate(measures: WebMeasures | None = None, *, random_state: int = 0) -> WebGraph:
    """Return a Web with these measures, None: those of Tamura 2007.

    The same measures and `random_state` give the same Web. At full scale it takes a minute or two
    and three gigabytes, a third of which the graph keeps. Raises `SettingError` for measures that
    contradict each other.
    """
    from crawler.simulate.generator import Generator  # numba takes half a second

    measures = measures or WebMeasures()
    measures.check()
    return Generator(measures, random_state).graph()

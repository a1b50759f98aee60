"""Plots as SVG elements."""

from crawler.report.plots import PlotAxes, Series, line_plot


def test_plots_use_the_colours_of_the_page() -> None:
    svg = line_plot(
        "p", 'a "title"', [Series("$x$ <b>", [1, 2], [0.5, None])] * 2, PlotAxes(y_label="y")
    )
    assert "var(--series-1)" in svg
    assert "var(--series-2)" in svg
    assert "currentColor" in svg
    assert "$x$ &lt;b&gt;" in svg
    assert 'aria-label="a &quot;title&quot;"' in svg

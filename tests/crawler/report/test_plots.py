"""Plots as SVG elements."""

from crawler.report.plots import Plot, Series


def test_plots_use_the_colours_of_the_page() -> None:
    series = [Series("$x$ <b>", [1, 2], [0.5, None])] * 2
    svg = Plot(name="p", title='a "title"', series=series, y_label="y").svg()
    assert "var(--series-1)" in svg
    assert "var(--series-2)" in svg
    assert "currentColor" in svg
    assert "$x$ &lt;b&gt;" in svg
    assert 'aria-label="a &quot;title&quot;"' in svg

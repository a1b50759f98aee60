"""What a crawl has to show: figures, tables, plots."""

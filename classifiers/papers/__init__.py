"""Methods and studies from papers; a crawl imports only the module of a named method."""

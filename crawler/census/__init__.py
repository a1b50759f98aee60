"""A census of Web servers: their portal pages, countries and languages (Cai 2009)."""

"""Commands of the project, beside those of Scrapy."""

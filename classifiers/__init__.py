"""URL and page language identification, independent of Scrapy and the crawler."""

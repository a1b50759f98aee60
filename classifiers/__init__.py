"""Language identification of URLs and pages, independent of Scrapy and the crawler."""

"""Language identification of URLs and pages; knows neither Scrapy nor the crawl."""

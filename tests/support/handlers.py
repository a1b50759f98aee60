"""Download handlers that a user could set."""

from scrapy import Request
from scrapy.core.downloader.handlers.base import BaseDownloadHandler
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured
from scrapy.http import HtmlResponse, Response

from langfocus.crawler.sources.contract import Unreachable
from tests.support.smallweb import SmallWeb


class NotInstalled(BaseDownloadHandler):
    def __init__(self, crawler: Crawler) -> None:
        raise NotConfigured("its library is not installed")

    async def download_request(self, request: Request) -> Response:
        raise AssertionError


class Unpacking(BaseDownloadHandler):
    """Sends no signals, tells no address, and unpacks bodies without a word."""

    async def download_request(self, request: Request) -> Response:
        try:
            answer = SmallWeb(30).respond(request.url)
        except Unreachable as error:
            raise OSError from error
        headers = {**dict(answer.headers), "Content-Encoding": "gzip", "Content-Length": "5"}
        return HtmlResponse(request.url, answer.status, headers, answer.body)

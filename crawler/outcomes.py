"""The words in which a run counts: each outcome of a URL and each counter, with its meaning.

A URL has one outcome. `page` counts for the goals and figures of a crawl; the others are the reason
why there is no page. Links and URLs that never got that far are counted in `counts` alone.
"""

from typing import Final

OUTCOMES: Final = {
    "page": "downloaded with a final status; an error of the server is a page without a label",
    "unchanged": "a page of an earlier run that did not change (304)",
    "redirect": "leads to another URL, which is treated as a link",
    "sitemap": "a sitemap or a feed; its links were taken",
    "media": "the answer is no text: a picture, an archive, binary data",
    "robots": "forbidden by robots.txt",
    "robots_unreachable": "its robots.txt could not be fetched",
    "origins_full": "its host has given as many robots.txt as a crawl fetches of one host",
    "blocked": "in the file of -a block",
    "private_address": "private address (LANGFOCUS_PRIVATE_ADDRESSES allows those)",
    "host_full": "its host had used up the host cap when its turn came",
    "domain_full": "its registered domain had used up its cap when its turn came",
    "address_full": "its IP address had used up its cap when its turn came",
    "dns": "its host has no address",
    "refused": "connection refused",
    "timeout": "no whole answer within DOWNLOAD_TIMEOUT",
    "unreachable": "the connection ended before all headers had come",
    "tls": "the server does not speak TLS as it should",
    "headers": "the server sent more headers than the limit",
    "protocol": "the server does not keep to HTTP",
    "encoding": "the body is not encoded as the server says",
    "too_large": "the body is larger than DOWNLOAD_MAXSIZE",
    "redirect_loop": "a chain of more than 20 redirects",
    "not_archived": "not in the archive that is crawled",
    "scheme": "a scheme that no handler is loaded for",
    "ignored": "refused by an add-on of Scrapy",
    "page_crashed": "the page ended the process that read it, twice",
    "page_timeout": "the page took its reader more than its time, twice",
    "interrupted": "kills cut off all its requests",
    "error": "a fault of langfocus; the log has it",
    "taken_down": "a page that was removed from the run",
}
"""The outcomes of URLs, by name."""

COUNTS: Final = {
    "stored": "links that entered the queue",
    "seen": "links to a URL that was known",
    "rejected": "links that the filter left out",
    "host_full": "links to a host whose queue was full, or that had used up its cap",
    "domain_full": "links to a registered domain that had used up its cap",
    "ignored_file": "links to pictures, films, style sheets, downloads",
    "ignored_url": "links that are too long, invalid, or beyond 10,000 of a page",
    "ignored_port": "links to a port of another protocol",
    "ignored_trap": "links that look like an endless series",
    "ignored_nofollow": "links that their page forbids to follow",
    "blocked": "links in the file of -a block",
    "dropped_blocked": "queued URLs that were blocked later",
    "dropped_irrelevant": "queued URLs whose server or directory became irrelevant",
    "dropped_host_full": "queued URLs whose host reached its cap",
    "dropped_same_page": "queued URLs that a page gave as its own (rel=canonical)",
    "retried": "URLs that were queued again after a failure",
    "respelled": "redirects to another spelling of the same page",
    "lowered": "URLs and links whose score fell, since their domain or address is crowded",
    "cut_short": "pages whose body was incomplete",
    "noarchive": "pages that were not kept in WARC files, since they forbid it",
    "opted_out": "pages that are reserved from text and data mining or AI",
    "parser_lexbor": "pages read by the usual parser",
    "parser_lexbor-cut": "pages of which only the beginning was read",
    "parser_beautifulsoup": "pages read by the parser for broken markup",
}
"""The counters in `counts` of summary.json, by name."""

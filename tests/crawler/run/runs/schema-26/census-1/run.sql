BEGIN TRANSACTION;
CREATE TABLE archived(
    id INTEGER PRIMARY KEY,               -- order in the WARC files
    fingerprint INTEGER,                  -- of the settled URL; NULL: robots.txt, an embedded
                                          -- file, or another spelling of a URL
    url TEXT NOT NULL, date TEXT NOT NULL, status INTEGER NOT NULL, mime TEXT NOT NULL,
    digest TEXT NOT NULL,                 -- SHA-1 of the body, in hexadecimal; or ALGORITHM:DIGEST
                                          -- as the archive spells it that has the body
    is_revisit INTEGER NOT NULL,          -- 1: an earlier record has the body; 2: the server said
                                          -- that the page of an earlier run has not changed
    file TEXT NOT NULL,
    start INTEGER NOT NULL,               -- bytes: the answer begins
    length INTEGER NOT NULL,              -- bytes of the answer's record
    finish INTEGER NOT NULL);
CREATE TABLE belief(
    id INTEGER PRIMARY KEY,               -- 1
    labelled INTEGER NOT NULL, relevant INTEGER NOT NULL,
    mean BLOB NOT NULL, covariance BLOB NOT NULL);
CREATE TABLE counts(name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
INSERT INTO "counts" VALUES('parser_lexbor',1);
INSERT INTO "counts" VALUES('stored',1);
CREATE TABLE earlier(
    url TEXT NOT NULL PRIMARY KEY,        -- of a page of the run that this one is since
    etag TEXT, modified TEXT, digest TEXT NOT NULL,
    looks INTEGER NOT NULL, changes INTEGER NOT NULL, first_at REAL NOT NULL,
    seen_at REAL NOT NULL,                -- time of its last visit
    language TEXT, confidence REAL, method TEXT, charset TEXT,
    kept_url TEXT, kept_at TEXT)          -- WARC-Target-URI and WARC-Date of the record with its
    WITHOUT ROWID;
CREATE TABLE embeds(
    id INTEGER PRIMARY KEY,               -- order of discovery
    url TEXT NOT NULL UNIQUE,             -- of a file that a relevant page embeds
    host TEXT NOT NULL, domain TEXT NOT NULL,
    page INTEGER NOT NULL,                -- urls.fingerprint of the page that needed it first
    depth INTEGER NOT NULL,               -- 1; more after frames, imports and redirects
    is_frame INTEGER NOT NULL,
    tries INTEGER NOT NULL DEFAULT 0,
    outcome TEXT,                         -- NULL: it waits
    bytes INTEGER NOT NULL DEFAULT 0);
CREATE TABLE hosts(
    id INTEGER PRIMARY KEY,
    host TEXT NOT NULL UNIQUE,            -- or a registered domain, or "ip " and an address
    sent INTEGER NOT NULL DEFAULT 0,      -- URLs that got a request
    settled INTEGER NOT NULL DEFAULT 0,   -- of these, URLs that left the queue
    pages INTEGER NOT NULL DEFAULT 0,     -- pages downloaded
    delay_s REAL,                         -- Crawl-delay; NULL: the crawl's own delay
    not_before REAL NOT NULL DEFAULT 0,   -- unix seconds; set by Retry-After and back-off
    taken INTEGER NOT NULL DEFAULT 0,     -- slots of the domain or address that are taken
    files INTEGER NOT NULL DEFAULT 0,     -- requests to the host for files since its last page
    found INTEGER NOT NULL DEFAULT 0,     -- bytes of URLs that a domain's other hosts ever queued
    received INTEGER NOT NULL DEFAULT 0,  -- bytes of the bodies of the host's settled URLs
    relevant INTEGER NOT NULL DEFAULT 0);
INSERT INTO "hosts" VALUES(1,'kueche-arzt.de',1,1,1,NULL,0.0,0,0,0,3902,0);
CREATE TABLE links(
    page INTEGER PRIMARY KEY,             -- pages.id of a page that was read, or of a redirect
    urls BLOB NOT NULL);
CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
INSERT INTO "meta" VALUES('address_cap','0');
INSERT INTO "meta" VALUES('block','');
INSERT INTO "meta" VALUES('budget_pages','');
INSERT INTO "meta" VALUES('command','langfocus crawl -a hosts=/tmp/tmpshb5g69m/census-1.txt -a web=sample -s LANGFOCUS_CONTACT=crawls@example.org -s LANGFOCUS_READERS=0 -s LANGFOCUS_SAMPLE_HOSTS=12 -s LANGFOCUS_WARC=False');
INSERT INTO "meta" VALUES('delay_s','0.0');
INSERT INTO "meta" VALUES('directory_depth','1');
INSERT INTO "meta" VALUES('domain_cap','0');
INSERT INTO "meta" VALUES('embeds','');
INSERT INTO "meta" VALUES('filter','none');
INSERT INTO "meta" VALUES('gaps','[]');
INSERT INTO "meta" VALUES('goal_bytes','');
INSERT INTO "meta" VALUES('goal_expected','');
INSERT INTO "meta" VALUES('goal_hours','');
INSERT INTO "meta" VALUES('goal_relevant','');
INSERT INTO "meta" VALUES('goal_words','');
INSERT INTO "meta" VALUES('host_bytes','');
INSERT INTO "meta" VALUES('host_cap','10');
INSERT INTO "meta" VALUES('host_queue','200');
INSERT INTO "meta" VALUES('hosts','c1e53ef6257461bdaf8d03a7882bc1b5');
INSERT INTO "meta" VALUES('hosts_file','census-1.txt');
INSERT INTO "meta" VALUES('hosts_number','1');
INSERT INTO "meta" VALUES('identify','composite');
INSERT INTO "meta" VALUES('lang','');
INSERT INTO "meta" VALUES('ordering','bfs');
INSERT INTO "meta" VALUES('parts','');
INSERT INTO "meta" VALUES('plugins','[]');
INSERT INTO "meta" VALUES('readable_by','25');
INSERT INTO "meta" VALUES('schema','26');
INSERT INTO "meta" VALUES('scope','');
INSERT INTO "meta" VALUES('seeds','[]');
INSERT INTO "meta" VALUES('shards','1');
INSERT INTO "meta" VALUES('shared','');
INSERT INTO "meta" VALUES('since','');
INSERT INTO "meta" VALUES('strategy','bfs');
INSERT INTO "meta" VALUES('tolerance','5');
INSERT INTO "meta" VALUES('version','langfocus 0.1.0');
INSERT INTO "meta" VALUES('web','sample');
CREATE TABLE pages(id INTEGER PRIMARY KEY CHECK(id > 0), fingerprint INTEGER NOT NULL UNIQUE, url TEXT NOT NULL, host TEXT NOT NULL, parent TEXT, depth INTEGER NOT NULL, status INTEGER CHECK(status BETWEEN 100 AND 999), outcome TEXT NOT NULL, language TEXT, confidence REAL, method TEXT, charset TEXT, country TEXT, address TEXT, directives TEXT, robots_txt TEXT, words_read INTEGER, bytes INTEGER NOT NULL CHECK(bytes >= 0), score REAL NOT NULL, reasons TEXT, queued INTEGER NOT NULL, fetched_at REAL NOT NULL, is_copy INTEGER NOT NULL, in_scope INTEGER NOT NULL, needs_browser INTEGER NOT NULL) STRICT;
INSERT INTO "pages" VALUES(1,-6553395200742103643,'http://www.kueche-arzt.de/','kueche-arzt.de',NULL,0,200,'page','de',9.60838526349923505165e-01,'text','utf-8',NULL,'192.0.2.163',NULL,'404',329,3902,0.0,NULL,0,1.79589762573404884337e+09,0,0,0);
CREATE TABLE robots(
    origin TEXT NOT NULL PRIMARY KEY,
    fetched_at REAL NOT NULL,
    bytes INTEGER NOT NULL,               -- of this row, about
    text TEXT NOT NULL);
INSERT INTO "robots" VALUES('http://www.kueche-arzt.de',1.79589762571483016018e+09,235,'{"bot":"langfocus","rules":{"spelled":"","plain":"","delay_s":0.0,"signals":[],"sitemaps":[]},"version":"404"}');
CREATE TABLE sessions(
    id INTEGER PRIMARY KEY, started_at REAL NOT NULL, ended_at REAL, finish_reason TEXT);
INSERT INTO "sessions" VALUES(1,1.79589762568952107432e+09,1.79589762573563027385e+09,'finished');
CREATE TABLE tallies(
    unit TEXT PRIMARY KEY,                -- registered domain, host or directory
    labelled INTEGER NOT NULL, relevant INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE units(
    unit TEXT PRIMARY KEY,                -- server or directory
    downloaded INTEGER NOT NULL, relevant INTEGER NOT NULL) WITHOUT ROWID;
INSERT INTO "units" VALUES('kueche-arzt.de',1,0);
CREATE TABLE urls(
    id INTEGER PRIMARY KEY,               -- order of discovery
    fingerprint INTEGER NOT NULL UNIQUE, url TEXT NOT NULL, host INTEGER NOT NULL,
    unit TEXT,                            -- NULL if the host is the unit; '+': no filter drops it
    parent INTEGER,                       -- urls.id of the page that linked here first
    depth INTEGER NOT NULL, redirects INTEGER NOT NULL,
    tries INTEGER NOT NULL,               -- requests, and failures before one
    score REAL NOT NULL,
    queued INTEGER NOT NULL,              -- 1: in the queue; 0: settled;
                                          -- 2: not fetched, another URL gave its page
    evidence BLOB,                        -- of an ordering that learns, packed by
                                          -- crawler.frontier.evidence_rows; NULL: none, or settled
    sent INTEGER NOT NULL DEFAULT 0);
INSERT INTO "urls" VALUES(1,-6553395200742103643,'http://www.kueche-arzt.de/',1,NULL,NULL,0,0,1,0.0,0,NULL,1);
CREATE TABLE visits(
    page INTEGER PRIMARY KEY,             -- pages.id of a download, or of an unchanged page
    etag TEXT, modified TEXT,             -- ETag and Last-Modified of its server
    digest TEXT NOT NULL,                 -- of its body
    looks INTEGER NOT NULL,               -- visits after the first, in earlier runs too
    changes INTEGER NOT NULL,             -- visits that found it changed
    first_at REAL NOT NULL);
INSERT INTO "visits" VALUES(1,NULL,NULL,'623ec55fb659e1426c9d3e3b9f0a20e1',0,0,1.795897625734098196e+09);
CREATE INDEX urls_queue ON urls(host, score DESC, id) WHERE queued = 1;
CREATE INDEX urls_unit ON urls(unit) WHERE queued = 1 AND unit IS NOT NULL;
CREATE INDEX archived_digest ON archived(digest) WHERE is_revisit = 0;
CREATE INDEX embeds_host ON embeds(host, id) WHERE outcome IS NULL;
CREATE INDEX embeds_page ON embeds(page, bytes);
CREATE INDEX embeds_domain ON embeds(domain, bytes);
COMMIT;

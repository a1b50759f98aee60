"""Pages that are empty without a browser are told apart from empty pages."""

import pytest

from langfocus.classifiers.pages.parse import ParsedPage, parse_page
from langfocus.crawler.corpus.extraction import main_text_of

BUNDLE = '<script src="/static/js/main.4f3a.js" defer></script>'
SHELLS = {
    "react": f"<html lang=eu><body><noscript>You need to enable JavaScript to run this app."
    f"</noscript><div id=root></div>{BUNDLE}",
    "vue": f"<body><noscript><strong>Aktivieren Sie JavaScript</strong></noscript>"
    f"<div id=app></div>{BUNDLE}",
    "vite": '<script type=module src=/assets/index.js></script><body><div id="app"></div>',
    "next": '<body><div id="__next"></div><script id=__NEXT_DATA__ type=application/json>'
    '{"page":"/"}</script><script src=/_next/static/chunks/main.js></script>',
    "nuxt": f'<body><div id="__nuxt"><svg><text>Loading</text></svg></div>{BUNDLE}',
    "angular": f"<body><albiste-root>Loading...</albiste-root>{BUNDLE}",
    "angular 1": f'<html ng-app="portal"><body><div ng-view></div>{BUNDLE}',
    "root with a logo": f'<body><div id=root><img src=logo.png alt="">Kargatzen…</div>{BUNDLE}',
    "view": f"<body><nav><a href=/login>Saioa hasi</a></nav><main ui-view></main>{BUNDLE}",
    "left out": "<body><nav><a href=/>Hasiera</a></nav><!--$!--><template data-dgst=BAILOUT_TO_"
    f"CLIENT_SIDE_RENDERING></template><!--/$-->{BUNDLE}",
    "sveltekit": '<link rel="modulepreload" href="/_app/start.js"><body><div style="display: '
    'contents"><script>import("/_app/start.js")</script></div>',
    "suffix": f'<body><div id="news-app"></div>{BUNDLE}',
    "flutter": '<body><script src="flutter_bootstrap.js" async></script></body>',
    "from another host": "<body><div id=root></div><script src=https://cdn.x.org/a.js></script>",
    "component beside a footer": "<body><app-root></app-root><footer>Created by us. <a href=/>More"
    f"</a></footer>{BUNDLE}",
    "blazor": '<body><app>Loading...</app><script src="_framework/blazor.webassembly.js"></script>',
    "long notice": f"<body><noscript>{'JavaScript is disabled. Please enable JavaScript. ' * 9}"
    f"</noscript><div id=root></div>{BUNDLE}",
    "notice": f"<body><noscript>Сайт требует JavaScript</noscript>{BUNDLE}<main></main>",
}
OTHERS = {
    "empty": "<body></body>",
    "empty with a root": "<body><div id=root></div></body>",
    "empty with statistics": "<body></body><script src=https://stat.example/a.js></script>",
    "rendered": f"<body><div id=root><p>{'Gaurko albisteak euskaraz. ' * 10}</p></div>{BUNDLE}",
    "rendered and short": f"<body><div id=app><p>Harremanetarako: idatzi helbide honetara edo "
    f"deitu bulegora goizetan.</p></div>{BUNDLE}",
    "short with a widget": "<body><p>Bideoa laster.</p><a href=/>Hasiera</a><noscript>Please enable"
    f" JavaScript to view the comments</noscript>{BUNDLE}",
    "statistics in noscript": f"<body><p>Laster</p><noscript><img src=/pixel></noscript>{BUNDLE}",
    "entrance": f"<body id=root><a href=/eu><img src=eu.png></a>{BUNDLE}",
    "frames": f"<frameset><frame src=/a></frameset><noscript>JavaScript</noscript>{BUNDLE}",
    "refresh": f'<meta http-equiv=Refresh content="0;url=/eu"><body><div id=app></div>{BUNDLE}',
    "film": f"<body><div id=root><video src=a.mp4></video></div>{BUNDLE}",
    "login": f"<body><div id=app><form><input name=user></form></div>{BUNDLE}",
    "login beside a tool's root": f"<body><div id=fb-root></div><a href=/>Saioa hasi</a>{BUNDLE}",
    "notice beside a tool's root": f"<body><div id=fb-root></div><p>Laster bueltan</p>{BUNDLE}",
    "comment": f"<body><h1>404</h1><p>Orria ez da aurkitu</p><!-- nginx -->{BUNDLE}",
    "data": '<body><div id=app></div><script type="application/ld+json">{}</script>',
}


ARTICLE = "Gaurko albisteak euskaraz irakurri ditzakezu hemen. " * 8
FORUM = (
    f"<body><noscript data-path=/t/1><p>{ARTICLE}</p><a href=/t/2>Hurrengoa</a><p>Powered by us, "
)
FORUM += f"best viewed with JavaScript enabled</noscript><section id=main></section>{BUNDLE}"


def parsed(html: str) -> ParsedPage:
    return parse_page(html.encode(), content_type="text/html", url="http://a.eus/")


def needs_browser(html: str) -> bool:
    return parsed(html).needs_browser


@pytest.mark.parametrize("html", SHELLS.values(), ids=SHELLS)
def test_a_page_that_scripts_would_fill_needs_a_browser(html: str) -> None:
    assert needs_browser(html)


@pytest.mark.parametrize("html", OTHERS.values(), ids=OTHERS)
def test_a_page_that_has_no_more_in_a_browser_needs_none(html: str) -> None:
    assert not needs_browser(html)


def test_a_page_whose_noscript_has_its_text_is_read_without_a_browser() -> None:
    page = parsed(FORUM)
    assert (page.prose, page.links) == (ARTICLE.strip(), ["http://a.eus/t/2"])
    assert not page.needs_browser
    assert main_text_of(FORUM.encode(), "text/html").paragraphs[0] == ARTICLE.strip()


def test_noscript_beside_other_text_is_no_text() -> None:
    page = parsed(f"<body><p>{ARTICLE}</p><noscript><p>{'Hau ez da ikusten. ' * 20}</p></noscript>")
    assert "ikusten" not in page.text


def test_noscript_in_noscript_is_opened_once() -> None:
    nested = f"<body>{'<noscript' * 9}{'>' * 9}{ARTICLE}"
    assert parsed(nested).text.count("Gaurko") == 8

"""The files that pages and style sheets embed, as a browser resolves them."""

import time

import pytest

from langfocus.classifiers.pages.html.embedded import MOST, embedded_in_css, embedded_in_page

HTML = "text/html; charset=utf-8"
HERE = "http://e.org/d/p.html"


def found(html: str, url: str = HERE) -> list[str]:
    return [one.removeprefix("http://e.org/") for one in embedded_in_page(html.encode(), HTML, url)]


@pytest.mark.parametrize(
    ("html", "urls"),
    [
        ('<IMG SRC="a.png">', ["d/a.png"]),
        ('<img src="  a.png\n">', ["d/a.png"]),
        ('<img src="//c.net/a.png#x">', ["http://c.net/a.png"]),
        ('<img srcset="a,b.png 1x, c.png 2x,d.png">', ["d/a,b.png", "d/c.png", "d/d.png"]),
        ('<img srcset="a.png, b.png">', ["d/a.png", "d/b.png"]),
        ('<img data-src=a.png data-srcset="b.png 1x">', ["d/b.png", "d/a.png"]),
        ("<picture><source srcset=a.webp><img src=b.jpg></picture>", ["d/a.webp", "d/b.jpg"]),
        (
            "<video poster=a.jpg src=b.mp4><track src=c.vtt></video>",
            ["d/b.mp4", "d/a.jpg", "d/c.vtt"],
        ),
        ("<audio><source src=a.mp3></audio>", ["d/a.mp3"]),
        ("<link rel='Alternate StyleSheet' href=a.css>", ["d/a.css"]),
        ("<link rel='shortcut icon' href=/f.ico>", ["f.ico"]),
        ("<link rel=preload imagesrcset='a.png 1x'>", ["d/a.png"]),
        ("<link rel=alternate href=feed.xml><link rel=canonical href=x>", []),
        ("<img src=a.png><link rel=stylesheet href=b.css>", ["d/b.css", "d/a.png"]),
        ("<script src=a.js></script><script>url(b.png)</script>", ["d/a.js"]),
        ("<object data=a.swf></object><embed src=b.pdf>", ["d/a.swf", "d/b.pdf"]),
        ("<input type=image src=a.gif>", ["d/a.gif"]),
        ("<body background=a.gif>", ["d/a.gif"]),
        (
            "<svg><use xlink:href='a.svg#b'/><use href='#c'/><image href=d.png /></svg>",
            ["d/a.svg", "d/d.png"],
        ),
        ("<noscript><img src=a.png></noscript>", ["d/a.png"]),
        ("<p style='background: URL( &quot;a.png&quot; )'>", ["d/a.png"]),
        ("<style>@import 'a.css'; p { background: url(b.png) }</style>", ["d/a.css", "d/b.png"]),
        ("<base href=/b/><img src=a.png>", ["b/a.png"]),
        ("<base href='data:x'><img src=a.png>", ["d/a.png"]),
        ("<img src=data:image/png;base64,a><img src=blob:http://e.org/1>", []),
        ("<img src=''><img src='#x'><img src=p.html>", []),
        ("<img src='http://[bad/'><img src=ftp://x/><img src=javascript:1>", []),
        ("<a href=a.html><img alt='b.png'></a>", []),
    ],
)
def test_a_page_embeds(html: str, urls: list[str]) -> None:
    assert found(html) == urls


def test_a_frame_is_marked() -> None:
    html = b"<iframe src=a.html></iframe><img src=b.png><frameset><frame src=c.html></frameset>"
    assert embedded_in_page(html, HTML, HERE) == {
        "http://e.org/d/a.html": True,
        "http://e.org/d/b.png": False,
    }
    assert embedded_in_page(b"<frameset><frame src=c.html></frameset>", HTML, HERE) == {
        "http://e.org/d/c.html": True
    }


@pytest.mark.parametrize(
    ("css", "names"),
    [
        ("@import 'a.css' screen; @IMPORT url(b.css);", ["a.css", "b.css"]),
        ("p { background: url('a.png'), url( b.png ) }", ["a.png", "b.png"]),
        ("@font-face { src: url(a.woff2) format('woff2'), url(b.woff) }", ["a.woff2", "b.woff"]),
        ("/* url(a.png) */ p { background: url(b.png) /* */ }", ["b.png"]),
        ("p { content: 'url(a.png)'; background: url(b.png) }", ["b.png"]),
        ("@namespace url(http://www.w3.org/1999/xhtml); p { background: url(a.png) }", ["a.png"]),
        (r"p { background: url('a\20 b.png') }", ["a%20b.png"]),
        ("p { background: url(data:image/png;base64,a) } q { fill: url(#a) }", []),
        ("p { background: url(a.png", []),
    ],
)
def test_a_style_sheet_embeds(css: str, names: list[str]) -> None:
    assert list(embedded_in_css(css, "http://e.org/s/x.css")) == [
        f"http://e.org/s/{name}" for name in names
    ]


def test_ten_thousand_images_are_bounded() -> None:
    assert len(found("".join(f"<img src={n}.png>" for n in range(10_000)))) == MOST


@pytest.mark.parametrize(
    "text", ["url(", "url('", "/*", '@import "', "url(\\", "url( ", "a,", '"', "'\\"]
)
def test_the_time_is_linear(text: str) -> None:
    def seconds(number: int) -> float:
        began_s = time.process_time()
        embedded_in_css(text * number, HERE)
        found(f'<img srcset="{text.replace(chr(34), "") * number}">')
        return time.process_time() - began_s

    seconds(100)
    assert seconds(20_000) < 1

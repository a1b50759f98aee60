"""The registered domain of a host, by the public suffix list with its private part."""

import pytest
from tldextract import TLDExtract

from crawler.domains import domain_of


@pytest.mark.parametrize(
    ("host", "domain"),
    [
        ("a.b.uni.de", "uni.de"),
        ("uni.de", "uni.de"),
        ("a.b.example.co.uk", "example.co.uk"),
        ("co.uk", "co.uk"),
        ("de", "de"),
        ("x.me.github.io", "me.github.io"),
        ("me.blogspot.com", "me.blogspot.com"),
        ("blogspot.com", "blogspot.com"),
        ("a.b.c.kawasaki.jp", "b.c.kawasaki.jp"),
        ("a.city.kawasaki.jp", "city.kawasaki.jp"),
        ("a.xn--e1afmkfd.xn--p1ai", "xn--e1afmkfd.xn--p1ai"),
        ("a.b.no-such-suffix", "b.no-such-suffix"),
        ("192.0.2.1", "192.0.2.1"),
        ("[2001:db8::1]", "[2001:db8::1]"),
        ("", ""),
    ],
)
def test_a_domain_is_one_label_more_than_a_public_suffix(host: str, domain: str) -> None:
    assert domain_of(host) == domain


def test_every_rule_of_the_list_is_read_as_tldextract_reads_it() -> None:
    extract = TLDExtract(suffix_list_urls=(), include_psl_private_domains=True, cache_dir=None)
    for rule in extract.tlds[::7]:
        suffix = rule.encode("idna").decode().replace("*", "any").replace("!", "")
        for host in (suffix, f"a.{suffix}", f"b.a.{suffix}"):
            told = extract.extract_str(host).top_domain_under_public_suffix
            assert domain_of(host) == (told or host)

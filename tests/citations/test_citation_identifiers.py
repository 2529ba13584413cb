"""DOIs, URLs, arXiv numbers, ISBNs and ISSNs out of the text around them."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from espalier.citations.normalise import find_arxiv, find_doi, find_isbn, find_issn, find_url
from espalier.citations.normalise.identifiers import find_old_arxiv

SICI = "10.1002/(SICI)1097-4636(199823)43:3<338::AID-JBM16>3.0.CO;2-B"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("doi:10.1000/xyz123.", "10.1000/xyz123"),
        ("DOI 10.1000/ABC", "10.1000/ABC"),
        ("(doi: 10.1002/abc)", "10.1002/abc"),
        ("https://doi.org/10.1016/0022-2836(81)90087-5.", "10.1016/0022-2836(81)90087-5"),
        ("http://dx.doi.org/10.1000%2Fabc.", "10.1000/abc"),
        (f"{SICI};", SICI),
        ("10.1016/j.cell. 2003.01.002", "10.1016/j.cell.2003.01.002"),
        ("doi:10. 1016 / j.cell.2003", "10.1016/j.cell.2003"),
        ("10.2217/fca .14.82", "10.2217/fca.14.82"),
        ("doi: 10.1007/s00467-008-0811 -4.", "10.1007/s00467-008-0811-4"),
        ("10.1000/abc -5 pages", "10.1000/abc"),
        ("10.1016/j.fen.2011.06.013</ext-link></comment>", "10.1016/j.fen.2011.06.013"),
        ("10.1145/123.456, 2003", "10.1145/123.456"),
        ("10.1000/xyz accessed 2003", "10.1000/xyz"),
        ("10.1000/xyz. Accessed", "10.1000/xyz"),
        ("10.1007/JHEP06(2016)004[ hep-th/9711200]", "10.1007/JHEP06(2016)004"),
        ("10.1000/%ff", "10.1000/%ff"),
        ("10.1000%2F%ff", ""),
        ("210.1000/x and 10.12/x", ""),
        ("none", ""),
    ],
)
def test_doi(text: str, expected: str) -> None:
    assert find_doi(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Retrieved from http://www.example.com/a_(b).", "http://www.example.com/a_(b)"),
        ("<http://x.org/>.", "http://x.org/"),
        ("URL: www.example.com.", "www.example.com"),
        ("muse.jhu.edu/article/12.", "muse.jhu.edu/article/12"),
        ("Google, books.google.com/books?id=a12.", "books.google.com/books?id=a12"),
        ("nature.com.", "nature.com"),
        ("http://x.org/(SICI)1099(1998)12:8<1371::AID-HY>3.0", "http://x.org/(SICI)1099(1998)12:8<1371::AID-HY>3.0"),
        ("CEUR-WS.org", "CEUR-WS.org"),
        ("""<a href='http://x.org/en/'>http://x.org/en/.</a>""", "http://x.org/en/"),
        (
            """Available: <ext-link xmlns:xlink="http://w.org/xlink" xlink:href="http://x.org/a">http://x.org/a</ext-link>""",
            "http://x.org/a",
        ),
        ("Fen.org stays", ""),
        ("http://CRAN. R-project.org/package=gclus", "http://CRAN.R-project.org/package=gclus"),
        ("http://mirr ors.ctan.org/macros/grfguide.pdf", "http://mirrors.ctan.org/macros/grfguide.pdf"),
        ("https: / / arxiv. org / abs / 1605. 06409.", "https://arxiv.org/abs/1605.06409"),
        ("https://www.youtube.com/watch?v=LvKx J3bQRKE", "https://www.youtube.com/watch?v=LvKxJ3bQRKE"),
        ("https://a.org/2016/catalogs-an d-context.html.", "https://a.org/2016/catalogs-and-context.html"),
        ("http://www.x.org/a. Accessed 2003", "http://www.x.org/a"),
        ("https://github.com/a/b v1.2.", "https://github.com/a/b"),
        ("https://x.org/a doi:10.1000/182", "https://x.org/a"),
        ("http://www.un.org 2015", "http://www.un.org"),
        ("https://www.bbc.co.uk/news/1 10/02/2020.", "https://www.bbc.co.uk/news/1"),
        ("http://x.org/doc.pdf 3.5MB", "http://x.org/doc.pdf"),
        ("et.al, vol.ii, cf.ff/gg", ""),
        ("e.g. this, S.Paulo/x", ""),
        ("(https://x.org/a)", "https://x.org/a"),
        ("ftp://a.b/c;", "ftp://a.b/c"),
        ("http: //x.org/ foo/bar.html", "http://x.org/foo/bar.html"),
        ("http://www. example.com/x", "http://www.example.com/x"),
        ("https://www.cia.gov / library/index.html", "https://www.cia.gov/library/index.html"),
        ("http://a.org / http://b.org", "http://a.org/"),
        ("http://x.org/. Accessed 5 May", "http://x.org/"),
        ("http://x.org/ accessed", "http://x.org/"),
        ("none", ""),
    ],
)
def test_url(text: str, expected: str) -> None:
    assert find_url(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("arXiv:1706.03762v5 [cs.CL]", "1706.03762v5"),
        ("arXiv preprint arXiv:1706.03762", "1706.03762"),
        ("https://arxiv.org/abs/hep-th/9901001", "hep-th/9901001"),
        ("arXiv: math.GT/0309136", "math.GT/0309136"),
        ("10.48550/arXiv.2101.00001", "2101.00001"),
        ("arXiv 12, 1706.03762 alone", ""),
    ],
)
def test_arxiv(text: str, expected: str) -> None:
    assert find_arxiv(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Int. J. Theor. Phys. 38 (1999) 1113 [hep-th/9711200].", "hep-th/9711200"),
        ("A. Kitaev, e-print quant-ph/9707021.", "quant-ph/9707021"),
        ("On groups, preprint, math.GT/0211159v2, 2002", "math.GT/0211159v2"),
        ("http://xxx.lanl.gov/abs/hep-th/9711200", "hep-th/9711200"),
        ("[3] X. Ho, JHEP 02 (2011) 110 [1009.1234] [INSPIRE].", "1009.1234"),
        ("Phys. Rev. D 66 [ 1202.50341v4 [hep-ph]]", "1202.50341v4"),
        ("CoRR, abs/1409.0473, 2014.", "1409.0473"),
        ("A. Ho, On groups (2022), 2203.13739 .", "2203.13739"),
        ("Nature 567, 76 (2019), 1812.09815v2.", "1812.09815v2"),
        ("A. Ho (2022), 2213.13739", ""),
        ("A. Ho (2022), 2203.13739, 5", ""),
        # what only looks like one
        ("hep-th/9713200", ""),
        ("10.1000/hep-th/9711200", ""),
        ("http://x.org/math/0211159", ""),
        ("On math/physics 0211159", ""),
        ("[1009.12] and [2019.1234] and (1009.1234)", ""),
        ("[1009.1234.5]", ""),
    ],
)
def test_arxiv_without_its_name(text: str, expected: str) -> None:
    assert find_old_arxiv(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ISBN 0-306-40615-2", "0306406152"),
        ("ISBN-13: 978-0-306-40615-7.", "9780306406157"),
        ("ISBN-10 0306406152", "0306406152"),
        ("0-8044-2957-x", "080442957X"),
        ("0-306-40615-3, 978-0-306-40615-7", "9780306406157"),
        ("ISBN 0-306-40615-3", ""),
        ("123-0-306-40615-7", ""),
        ("", ""),
    ],
)
def test_isbn(text: str, expected: str) -> None:
    assert find_isbn(text) == expected


@given(st.lists(st.integers(0, 9), min_size=9, max_size=9), st.integers(0, 9), st.integers(1, 9))
@settings(deadline=None, derandomize=True, max_examples=100)
def test_check_digits(digits: list[int], place: int, change: int) -> None:
    check = -sum((10 - i) * digit for i, digit in enumerate(digits)) % 11
    ten = "".join(map(str, digits)) + ("X" if check == 10 else str(check))
    assert find_isbn(f"ISBN {ten[:1]}-{ten[1:5]}-{ten[5:9]}-{ten[9]}") == ten
    # One wrong digit is always noticed.
    wrong = list(ten)
    wrong[place] = str((int(wrong[place]) + change) % 10) if wrong[place] != "X" else str(change)
    assert find_isbn("".join(wrong)) == ""
    seven = digits[:7]
    check = -sum((8 - i) * digit for i, digit in enumerate(seven)) % 11
    issn = "".join(map(str, seven)) + ("X" if check == 10 else str(check))
    assert find_issn(issn) == find_issn(f"ISSN: {issn[:4]}–{issn[4:]}.") == f"{issn[:4]}-{issn[4:]}"
    wrong = list(issn)
    wrong[place % 7] = str((int(wrong[place % 7]) + change) % 10)
    assert find_issn("".join(wrong)) == ""


@given(st.text(st.sampled_from("10./-_%2Fahttpsw:()<>;X9 ²٣") | st.characters(), max_size=40))
@settings(deadline=None, derandomize=True, max_examples=300)
def test_any_text(text: str) -> None:
    for find in (find_doi, find_url):
        found = find(text)
        assert not any(map(str.isspace, found))
        assert not found.endswith((".", ",", ";", ":"))
    for find in (find_url, find_arxiv, find_old_arxiv, find_isbn, find_issn):
        assert set(find(text)) <= set(text.upper()) | set(text) | {"-"}

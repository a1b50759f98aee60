"""How many of a million pages of the Web are in each language.

From the statistics of Common Crawl, CC-MAIN-2024-42, table "languages" (detected by CLD2), in pages
a million. A language that CLD2 does not know is not listed. Latin is left out: most of those pages
are placeholder text.
"""

from __future__ import annotations

from typing import Final

_LISTED: Final = """
    en 434_241  ru 60_444  de 53_038  ja 50_419  zh 48_129  es 45_387  fr 43_960  it 25_282
    pt 23_146  nl 18_145  pl 18_065  tr 12_422  id 11_235  cs 10_630  vi 10_454  ko 7_388
    fa 7_051  ar 6_709  sv 6_649  uk 6_037  ro 5_978  el 5_728  hu 5_649  da 4_640  th 4_071
    sk 3_705  fi 3_444  no 3_060  bg 2_992  he 2_473  sr 2_161  hr 2_149  hi 2_089  ca 2_085
    lt 1_668  sl 1_558  et 1_326  bn 1_186  lv 942  ms 787  az 687  bs 523  sq 497
    ne 493  ta 473  ka 422  eu 401  is 398  mk 383  gl 365  hy 340  ur 306  uz 293  kk 282
    ml 269  mr 258  te 220  be 162  mn 161  kn 142  my 140  nn 130  cy 117  gu 113  km 106
    af 103  ky 98  sw 96  si 90  tl 88  tt 87  eo 84  pa 79  ku 74  ga 71  tg 64  or 57  so 50
    mt 49  fo 48  lb 40  lo 37  mg 36  ps 35  br 34  oc 34  sa 34  am 30  ba 29  fy 29  ha 27
    zu 25  as 24  dv 23  rw 23  war 23  xh 23  jv 22  tk 21  ceb 20  co 20  ht 19  sd 17  yi 17
    bo 15  gd 14  mi 12  rm 10  su 10  ug 10  yo 10  kl 9  gn 7  haw 7  ig 7  sco 7  sm 7  ti 7
    bho 6  ny 6  sn 6  st 6  ab 5  ia 5  om 5  qu 5  vo 5  ie 4  sg 4  gv 3  ln 3  syr 3  iu 2
    lg 2  aa 1  ak 1  ay 1  bi 1  dz 1  fj 1  ik 1  nso 1  rn 1  tn 1  to 1  ts 1  wo 1  za 1
"""

WEB_SHARES: Final[dict[str, int]] = {
    code: int(pages)
    for code, pages in zip(_LISTED.split()[::2], _LISTED.split()[1::2], strict=True)
}
"""Code -> pages of a million."""
UNLISTED: Final = 0.5
"""Pages of a million of a language that is not listed."""

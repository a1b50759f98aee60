"""Names of languages in English and in the language itself, from CLDR.

This is a copy: Babel would read a file for each language and keep a hundred megabytes in memory.
A test compares it with Babel. Names are in lower case and without brackets; earlier ones win.
"""
# ruff: noqa: E501, RUF001 - a line is a language, the names are in their alphabets

from typing import Final

CALLED: Final = """
aa: afar | qafar
ab: abkhazian | аԥсшәа
ace: acehnese
ady: adyghe
ae: avestan
af: afrikaans
ak: akan | fanti | twi
am: amharic | አማርኛ
an: aragonese | aragonés
ang: old english
ar: tunisian arabic | arabic | modern standard arabic | algerian arabic | najdi arabic | moroccan arabic | egyptian arabic | chadian arabic | العامية | العربية
arc: aramaic
as: assamese | অসমীয়া
ast: asturian | asturianu
av: avaric
awa: awadhi
ay: aymara
az: azerbaijani | azərbaycan
ba: bashkir | башҡорт теле
ban: balinese
bar: bavarian
bas: basaa | ɓàsàa
be: belarusian | беларуская
bem: bemba | ichibemba
bg: bulgarian | български
bho: bhojpuri | भोजपुरी
bi: bislama
bik: bikol
bjn: banjar
bm: bambara | bamanakan
bn: bangla | বাংলা
bo: tibetan | བོད་སྐད་
bpy: bishnupriya
br: breton | brezhoneg
brx: bodo | बर’
bs: bosnian | bosanski
bua: buriat
bug: buginese
ca: catalan | català
ce: chechen | нохчийн
ceb: cebuano
ch: chamorro
chm: mari
chr: cherokee | ᏣᎳᎩ
ckb: central kurdish | کوردیی ناوەندی
co: corsican | corsu
cr: cree
crh: crimean tatar
crs: seselwa creole french
cs: czech | čeština
csb: kashubian
cu: church slavic | церковнослове́нскїй
cv: chuvash | чӑваш
cy: welsh | cymraeg
da: danish | dansk
de: german | austrian german | swiss high german | deutsch
din: dinka
doi: dogri | डोगरी
dsb: lower sorbian | dolnoserbšćina
dv: divehi | ދިވެހިބަސް
dyu: dyula
dz: dzongkha | རྫོང་ཁ
ee: ewe | eʋegbe
egl: emilian
el: greek | ελληνικά
en: english | australian english | canadian english | british english | american english
eo: esperanto
es: spanish | latin american spanish | european spanish | mexican spanish | español
et: estonian | eesti
eu: basque | euskara
ext: extremaduran
fa: persian | dari | فارسی
ff: fula | pulaar
fi: finnish | suomi
fj: fijian
fo: faroese | føroyskt
fon: fon
fr: french | canadian french | swiss french | français
frp: arpitan
frr: northern frisian | nordfriisk
fur: friulian | furlan
fy: western frisian | frysk
ga: irish | gaeilge
gaa: ga | gã
gag: gagauz
gd: scottish gaelic | gàidhlig
gez: geez | ግዕዝኛ
gl: galician | galego
glk: gilaki
gn: guarani | avañe’ẽ
gor: gorontalo
got: gothic
grc: ancient greek
gsw: swiss german | schwiizertüütsch
gu: gujarati | ગુજરાતી
guc: wayuu
gv: manx | gaelg
ha: hausa
haw: hawaiian | ʻōlelo hawaiʻi
he: hebrew | עברית
hi: hindi | हिन्दी
hif: fiji hindi
hmn: hmong
ho: hiri motu
hr: croatian | hrvatski
hsb: upper sorbian | hornjoserbšćina
ht: haitian creole | kreyòl ayisyen
hu: hungarian | magyar
hy: armenian | հայերեն
hz: herero
ia: interlingua
id: indonesian | indonesia
ie: interlingue
ig: igbo
ii: sichuan yi | ꆈꌠꉙ
ik: inupiaq
ilo: iloko
inh: ingush
io: ido
is: icelandic | íslenska
it: italian | italiano
iu: inuktitut | ᐃᓄᒃᑎᑐᑦ
ja: japanese | 日本語
jam: jamaican creole english
jbo: lojban | la .lojban.
jv: javanese | jawa
ka: georgian | ქართული
kaa: kara kalpak | қарақалпақша
kab: kabyle | taqbaylit
kac: kachin
kam: kamba | kikamba
kbd: kabardian
kea: kabuverdianu
kg: kongo
kha: khasi
ki: kikuyu | gikuyu
kj: kuanyama
kk: kazakh | қазақ тілі
kl: kalaallisut
km: khmer | ខ្មែរ
kmb: kimbundu
kn: kannada | ಕನ್ನಡ
ko: korean | 한국어
koi: komi permyak
kok: konkani | कोंकणी
kr: kanuri
krc: karachay balkar
kri: krio
ks: kashmiri | کٲشُر
ksh: colognian | kölsch
ku: kurdish | kurdî
kv: komi
kw: cornish | kernewek
ky: kyrgyz | кыргызча
la: latin | latina
lad: ladino
lb: luxembourgish | lëtzebuergesch
lez: lezghian
lfn: lingua franca nova
lg: ganda | luganda
li: limburgish
lij: ligurian | ligure
lmo: lombard
ln: lingala | lingála
lo: lao | ລາວ
loz: lozi
lrc: northern luri | لۊری شومالی
lt: lithuanian | lietuvių
ltg: latgalian | latgalīšu
lu: luba katanga | tshiluba
lua: luba lulua
luo: luo | dholuo
lus: mizo
lv: latvian | latviešu
mad: madurese
mag: magahi
mai: maithili | मैथिली
mdf: moksha | мокшень кяль
mfe: morisyen | kreol morisien
mg: malagasy
mh: marshallese
mi: māori
min: minangkabau
mk: macedonian | македонски
ml: malayalam | മലയാളം
mn: mongolian | монгол
mni: manipuri | মৈতৈলোন্
mos: mossi
mr: marathi | मराठी
mrj: western mari
ms: malay | melayu
mt: maltese | malti
mwl: mirandese
my: burmese | မြန်မာ
myv: erzya | эрзянь кель
mzn: mazanderani | مازرونی
na: nauru
nap: neapolitan
nd: north ndebele | isindebele
nds: low german | low saxon | neddersass’sch
ne: nepali | नेपाली
new: newari
ng: ndonga
nia: nias
nl: dutch | flemish | nederlands
nn: norwegian nynorsk
no: norwegian bokmål | norwegian | norsk
nov: novial
nqo: n’ko | ߒߞߏ
nr: south ndebele
nso: northern sotho | sesotho sa leboa
nus: nuer | thok nath
nv: navajo | diné bizaad
ny: nyanja
nyn: nyankole | runyankore
oc: occitan
oj: ojibwa
om: oromo | oromoo
or: odia | ଓଡ଼ିଆ
os: ossetic | ирон
pa: western panjabi | punjabi | ਪੰਜਾਬੀ
pag: pangasinan
pam: pampanga
pap: papiamento | papiamentu
pcd: picard
pcm: nigerian pidgin | naijíriá píjin
pdc: pennsylvania german
pfl: palatine german
pi: pali
pl: polish | polski
pms: piedmontese
pnt: pontic
prg: prussian | prūsiskan
ps: pashto | پښتو
pt: portuguese | brazilian portuguese | european portuguese | português
qu: quechua | runasimi
raj: rajasthani | राजस्थानी
rm: romansh | rumantsch
rn: rundi | ikirundi
ro: romanian | moldavian | română
rom: romany
ru: russian | русский
rue: rusyn
rup: aromanian
rw: kinyarwanda | ikinyarwanda
sa: sanskrit | संस्कृत भाषा
sah: yakut | саха тыла
sat: santali | ᱥᱟᱱᱛᱟᱲᱤ
sc: sardinian | sardu
scn: sicilian | sicilianu
sco: scots
sd: sindhi | سنڌي
sdh: southern kurdish | کوردی خوارگ
se: northern sami | davvisámegiella
sg: sango | sängö
sgs: samogitian
shi: tachelhit | ⵜⴰⵛⵍⵃⵉⵜ
shn: shan | တႆး
si: sinhala | සිංහල
sk: slovak | slovenčina
sl: slovenian | slovenščina
sm: samoan
sma: southern sami | åarjelsaemien gïele
smj: lule sami | julevsámegiella
smn: inari sami | anarâškielâ
sms: skolt sami | sääʹmǩiõll
sn: shona | chishona
so: somali | soomaali
sq: albanian | shqip
sr: serbo croatian | serbian | montenegrin | српски
srn: sranan tongo
ss: swati | siswati
st: southern sotho | sesotho
stq: saterland frisian
su: sundanese | basa sunda
sv: swedish | svenska
sw: swahili | congo swahili | kiswahili
syr: syriac | ܣܘܪܝܝܐ
szl: silesian | ślōnski
ta: tamil | தமிழ்
tcy: tulu
te: telugu | తెలుగు
tet: tetum
tg: tajik | тоҷикӣ
th: thai | ไทย
ti: tigrinya | ትግርኛ
tk: turkmen | türkmen dili
tl: filipino | tagalog
tn: tswana | setswana
to: tongan | lea fakatonga
tok: toki pona
tpi: tok pisin
tr: turkish | türkçe
trv: taroko | patas taroko
ts: tsonga | xitsonga
tt: tatar | татар
tum: tumbuka
ty: tahitian
tyv: tuvinian
tzm: central atlas tamazight | tamaziɣt n laṭlaṣ
udm: udmurt
ug: uyghur | ئۇيغۇرچە
uk: ukrainian | українська
umb: umbundu
ur: urdu | اردو
uz: uzbek | o‘zbek
ve: venda | tshivenḓa
vec: venetian | veneto
vep: veps
vi: vietnamese | tiếng việt
vls: west flemish
vo: volapük
vro: võro
wa: walloon | walon
war: waray
wo: wolof
xal: kalmyk
xh: xhosa | isixhosa
xmf: mingrelian
yi: yiddish | ייִדיש
yo: yoruba | èdè yorùbá
yue: cantonese | 粵語
za: zhuang | vahcuengh
zea: zeelandic
zgh: standard moroccan tamazight | ⵜⴰⵎⴰⵣⵉⵖⵜ
zh: gan chinese | hakka chinese | xiang chinese | literary chinese | min nan chinese | wu chinese | chinese | simplified chinese | traditional chinese | 中文
zu: zulu | isizulu
zza: zaza
"""

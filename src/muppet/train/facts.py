"""A paragraph → what its opening says of its subject: years, numbers, nationality, place, kind,
what was done to it, where and by whom.

Patterns over encyclopedia prose. What they miss is no loss, there are enough paragraphs; what they
find must be right.
"""

import re
from dataclasses import dataclass
from typing import Any

from muppet.domain import Paragraph

OPENING = 2
"""Sentences that are looked at."""

_NATIONS = (
    "Afghan|African|Albanian|Algerian|American|Argentine|Armenian|Australian|Austrian|Bangladeshi|"
    "Belgian|Bolivian|Brazilian|British|Bulgarian|Cameroonian|Canadian|Chilean|Chinese|Colombian|"
    "Croatian|Cuban|Cypriot|Czech|Danish|Dutch|Ecuadorian|Egyptian|English|Estonian|Ethiopian|"
    "Finnish|French|Georgian|German|Ghanaian|Greek|Hungarian|Icelandic|Indian|Indonesian|Iranian|"
    "Iraqi|Irish|Israeli|Italian|Jamaican|Japanese|Kenyan|Korean|Latvian|Lebanese|Lithuanian|"
    "Malaysian|Mexican|Moroccan|Nepalese|Nigerian|Norwegian|Pakistani|Peruvian|Philippine|Polish|"
    "Portuguese|Romanian|Russian|Scottish|Senegalese|Serbian|Slovak|Slovenian|Spanish|Swedish|"
    "Swiss|Syrian|Thai|Tunisian|Turkish|Ukrainian|Uruguayan|Venezuelan|Vietnamese|Welsh"
)
_COUNTRIES = (
    "Afghanistan|Albania|Algeria|Argentina|Armenia|Australia|Austria|Bangladesh|Belgium|Bolivia|"
    "Brazil|Bulgaria|Cameroon|Canada|Chile|China|Colombia|Croatia|Cuba|Cyprus|the Czech Republic|"
    "Denmark|Ecuador|Egypt|England|Estonia|Ethiopia|Finland|France|Germany|Ghana|Greece|Hungary|"
    "Iceland|India|Indonesia|Iran|Iraq|Ireland|Israel|Italy|Jamaica|Japan|Kenya|Latvia|Lebanon|"
    "Lithuania|Malaysia|Mexico|Morocco|Nepal|the Netherlands|New Zealand|Nigeria|Northern Ireland|"
    "Norway|Pakistan|Peru|the Philippines|Poland|Portugal|Romania|Russia|Scotland|Senegal|"
    "Serbia|Slovakia|Slovenia|"
    "South Africa|South Korea|Spain|Sri Lanka|Sweden|Switzerland|Syria|Taiwan|Thailand|Tunisia|"
    "Turkey|Ukraine|Uruguay|Venezuela|Vietnam|Wales"
)
_STATES = (
    "Alabama|Alaska|Arizona|Arkansas|California|Colorado|Connecticut|Delaware|Florida|Georgia|"
    "Hawaii|Idaho|Illinois|Indiana|Iowa|Kansas|Kentucky|Louisiana|Maine|Maryland|Massachusetts|"
    "Michigan|Minnesota|Mississippi|Missouri|Montana|Nebraska|Nevada|New Hampshire|New Jersey|"
    "New Mexico|New York|North Carolina|North Dakota|Ohio|Oklahoma|Oregon|Pennsylvania|"
    "Rhode Island|South Carolina|South Dakota|Tennessee|Texas|Utah|Vermont|Virginia|Washington|"
    "West Virginia|Wisconsin|Wyoming"
)
_WORKS = ("film", "album", "novel", "song", "single", "video game", "television series", "play")
_NUMBER = r"(\d{1,3}(?:,\d{3})+|\d{3,7})"
_YEAR = r"(1[0-9]\d\d|20[0-2]\d)"
_BORN = re.compile(rf"\((?:[^()]{{0,60}}?\b)?born [^()]{{0,25}}?{_YEAR}\b")
_LIVED = re.compile(rf"\([^()]{{0,60}}?\b{_YEAR}\s?[–—-]\s?[^()]{{0,25}}?{_YEAR}\b[^()]{{0,20}}\)")
_SINCE = {
    "founded": re.compile(rf"\b(?:founded|established|formed|created) in (?:\w+ )?{_YEAR}\b"),
    "built": re.compile(rf"\b(?:built|constructed|completed) in (?:\w+ )?{_YEAR}\b"),
    "opened": re.compile(rf"\bopened in (?:\w+ )?{_YEAR}\b"),
    "discovered": re.compile(rf"\bdiscovered (?:in|on) (?:[\w,]+ ){{0,2}}{_YEAR}\b"),
    "published": re.compile(rf"\b(?:first )?published in (?:\w+ )?{_YEAR}\b"),
    "launched": re.compile(rf"\blaunched (?:in|on) (?:[\w,]+ ){{0,2}}{_YEAR}\b"),
}
_COUNTS = {
    "people": re.compile(rf"\bpopulation (?:was|of|is)(?: about| around)? {_NUMBER}\b"),
    "species": re.compile(r"\bgenus of (?:about |around |some )?(\d{1,3}) (?:\w+ ){0,2}species\b"),
    "metres": re.compile(r"\b(?:elevation|height|altitude) of (?:about )?([\d,]{2,6}) ?m(?:et|\b)"),
    "kilometres": re.compile(r"\b([\d,]{1,5})(?:\.\d+)? ?(?:km|kilomet\w+) (?:long|in length)\b"),
}
_IN = re.compile(
    r"\b(?P<is>(?:is|was) an? [a-z][a-z -]{2,40} )?in\b[^.;()]*?"
    r"(?<!New)(?<!New South)(?<! or)(?<! and) "
    rf"(?:(?P<state>{_STATES})(?:, (?:United States|U\.?S\.?A?\.?))?|(?P<country>{_COUNTRIES}))"
    r"(?:\.$|(?(is)(?=,? (?:and |with |near |on |at |about |that |which )[a-z0-9])|(?!)))"
)
"""Where something lies: at the sentence's end, or where only that has been said of it."""
_BORN_IN = re.compile(
    r"\bborn(?: on)?(?: [A-Za-z]+ \d{1,2}, \d{4},?| \d{1,2} [A-Za-z]+ \d{4},?| \d{4},?)?"
    r" (?:in|at) (?P<town>[A-Z][\w'-]+(?: [A-Z][\w'-]+){0,2})"
)
_IS = re.compile(
    r"\b(?:is|was|are|were) an? (?:former |retired |professional |small |large |historic )*"
    rf"(?:(?P<year>{_YEAR[1:-1]}) )?(?P<nation>{_NATIONS})? ?"
    r"(?P<kind>[a-z][a-z -]{2,60})"
)
_KIND_ENDS = re.compile(
    r" (?:and|from|who|that|which|in|of|by|based|located|for|directed|written|released|starring|"
    r"with|to|at|on|known|best|born|where|whose|played|playing|produced|recorded|as|used|found|"
    r"about|near|first|discovered|published|launched|built|opened|founded)\b"
)
_NAME = r"[A-Z][\w'’.-]*[\w'’](?: [A-Z][\w'’-]+)"
RELATIONS = {
    "director": re.compile(rf"\bdirected (?:and \w+ )?by ({_NAME}{{1,2}})"),
    "author": re.compile(
        r"^(?!.*\b(?:based|adapt)).*?\b(?:written|(?:is|was) an? [^,.;]*(?:novel|book|play)) by "
        rf"(?:[a-zA-Z-]+ ){{0,3}}?({_NAME}{{1,2}})"
    ),
    "developer": re.compile(rf"\bdeveloped by ({_NAME}{{0,2}})"),
    "publisher": re.compile(rf"\bpublished by ({_NAME}{{0,2}})"),
    "family": re.compile(r"\bin the (?:family )?([A-Z][a-z]+(?:aceae|idae))\b"),
    "league": re.compile(rf"\b(?:in|of) the ({_NAME}{{0,3}} (?:League|Conference))\b"),
    "county": re.compile(
        rf"\bin ({_NAME}{{0,1}} (?:County|District|Province|Prefecture), {_NAME}{{0,1}})"
    ),
    "city": re.compile(rf"\b(?:located|based|headquartered) in ({_NAME}{{0,2}}, {_NAME}{{0,1}})"),
}
"""What many paragraphs say of their subjects, so that two may share it; a county and a city with
where they lie, since many have one name."""
PLACES = frozenset({"county", "city"})
WHERE = frozenset({"in", "at", "near", "on"})
_CALLED = re.compile(
    r"\b(?:is|was|are|were) an? (?:(?:former|retired|professional|small|large|historic|defunct|"
    rf"{_YEAR[1:-1]}|(?:{_NATIONS})(?:-(?:{_NATIONS}))?) )*+"
    r"(?P<called>[a-z][a-z -]+(?:, (?:and )?[a-z][a-z -]+)*)"
)
_NO_NAME = re.compile(
    r"(?:former|retired|professional|male|female|type|kind|species|genus|member|part|name|"
    r"track|list|rhythm|field|created|starting|caused|able|set|one|word|term)"
)
"""What nothing is called by itself."""
_DONE = (
    "acquired|adapted|administered|aired|arranged|assassinated|awarded|based|born|broadcast|built|"
    "buried|captured|cast|coached|commissioned|composed|constructed|created|dedicated|designed|"
    "discovered|distributed|drawn|edited|educated|employed|endemic|established|excavated|filmed|"
    "financed|found|founded|headquartered|held|hosted|illustrated|inspired|introduced|invented|"
    "killed|laid|launched|led|located|made|maintained|managed|manufactured|married|mixed|named|"
    "narrated|native|operated|organised|organized|owned|painted|performed|photographed|played|"
    "portrayed|premiered|presented|printed|produced|published|raised|recorded|released|run|"
    "shot|set|shown|situated|sold|sponsored|staged|sung|supported|trained|voiced|won|written"
)
"""What is done to things and to people."""
_WORD = r"(?:(?:[A-Z]\.)+|St\.|[A-ZÀ-ÖØ-ÞŠŽŁ][^\W\d_]*+(?:['’&-][^\W\d_]++)*+)"
_PROPER = rf"{_WORD}(?: (?:(?:of the|of|de|du|von|van|&) )?{_WORD}){{0,3}}+"
_ENDS = (
    r"(?=\.[\"”]?\s*$|[,;:)](?! and [A-Z])|$|(?:,? and|,? but) (?![A-Z])|"
    r" (?:in|on|at|by|from|to|for(?! (?:the )?[A-Z])|"
    r"with|as|that|which|who|since|during|near|until|between|where|when|under|after|before|is|was|"
    r"about|along|through|via|within|starring)\b)"
)
"""Where a name is over: no name is what only tells more of a word, as in a Tudor house."""
MONTHS = "(?:January|February|March|April|May|June|July|August|September|October|November|December)"
_VALUE = (
    rf"(?P<value>(?:the )?{_PROPER})"
    rf"(?P<within>(?:(?:,| in(?! {MONTHS})) {_PROPER}){{0,2}}+){_ENDS}"
)
_DONE_SO = re.compile(
    r"(?:,? and |, )?(?:(?:is|was|were|are) )?(?:(?:also|mainly|currently|now|mostly|first) )?"
    r"(?!(?:released|sold|shown|aired|broadcast) in )"  # and elsewhere, as a rule
    rf"(?P<done>(?:{_DONE})(?:(?:, (?:and )?| and )(?:{_DONE}))*)"
    rf"(?: (?:in|on) (?:[A-Z][a-z]+ )?{_YEAR})?"
    r" (?P<how>in|at|near|on|after|for|from|to|(?P<by>by)) "
    rf"(?(by)(?:(?:the )?(?:(?:{_NATIONS})(?:[ -](?:{_NATIONS}))* )?"
    rf"(?:(?!(?:the|and|or|in|a|an|its|his|her|their)\b)[a-z-]+ ){{1,2}})?){_VALUE}"
)
_MODIFIERS = (
    r"(?:(?!(?:of|in|on|at|by|for|from|to|with|and|or|that|which|who|as|near|after)\b)"
    rf"(?!(?:{_DONE}) )[\w'’-]+,? ){{1,7}}"
)
_FIRST_IS = re.compile(r"^[^;:]*? (?:is|was|are|were) ")
_LATER_IS = re.compile(
    r"^(?:It|He|She|They|The (?P<noun>[a-z]+(?: [a-z]+)?)) (?:is|was|are|were|has been) "
)
_A_THING = re.compile(
    rf"(?:(?:an?|the|one of the) {_MODIFIERS})?(?:(?:that|which|who) (?=is|was))?"
)
_OF = (
    "moon|satellite|tributary|suburb|neighbourhood|neighborhood|borough|ward|subsidiary|division|"
    "brand|imprint|species|subspecies|genus|member|son|daughter|brother|sister|king|queen|"
    "president|governor|mayor|chairman|leader|founder|editor|director|dialect|campus|"
    "college|school|capital|district|province|municipality|county|parish|commune|village|town|city|"
    "region|native|graduate|student|pupil|resident|cultivar|island|peak|branch|constituency|"
    "department|faculty|quarter|section|subdivision|frazione|barangay"
)
_IT_IS_OF = re.compile(
    r"(?:(?:an?|the|one of the) )(?:(?!(?:of|in|on|at|by|for|from|to|with|and|or|that|which|who|as|"
    r"former|vice|deputy|assistant|minister|lieutenant|honorary|majority|minority)\b)"
    rf"[\w'’-]+,? ){{0,4}}(?P<kind>{_OF}) of {_VALUE}"
)
_NO_VALUE = re.compile(
    rf"(?:the )?(?:(?:{_NATIONS})|{MONTHS}|Mon\w*|Technicolor|CinemaScope|Panavision|IMAX|HD|"
    r"The|This|Its|Government|Company|State|City|University|Army|Church|Old|New|Union|"
    r"Senate|Parliament|"
    r"House of Representatives|Chamber of Deputies|National Assembly|Legislative \w+|Mr|Dr|Sir|I|"
    r"II|West|East|North|South|"
    r"(?:Labou?r|Conservative|Liberal|Communist|Socialist|Social Democratic|Green) Party)|.*['’]s?"
)
"""Names that are no names by themselves, or of many."""
_COUNTY = re.compile(
    r".*(?:shire|County)|Norfolk|Suffolk|Kent|(?:East |West )?Sussex|Essex|Surrey|Devon|Cornwall|"
    r"Dorset|Somerset|Cumbria|Northumberland|Rutland|Greater \w+|County .*|Fife|Gwynedd|Powys"
)
_PROVINCE = re.compile(
    r"Ontario|Quebec|British Columbia|Alberta|Manitoba|Saskatchewan|Nova Scotia|New Brunswick|"
    r"Newfoundland|(?:Lower )?Saxony|Bavaria|Hesse|Thuringia|Brandenburg|Queensland|Victoria|"
    r"New South Wales|Tasmania|(?:Western|South) Australia|Punjab|Kerala|Karnataka|Maharashtra|"
    r"Tamil Nadu|Gujarat|West Bengal|Bihar|Odisha|Uttar Pradesh|Andhra Pradesh|Tuscany|Lombardy|"
    r"Piedmont|Sicily|Sardinia|Veneto|Catalonia|Andalusia|Galicia|Brittany|Normandy|Provence|Tyrol"
    r"|.* (?:Province|Prefecture|Region|Oblast|Voivodeship|Governorate|Krai)|(?:Upper|Lower) .*"
)
_DISTRICT = re.compile(r".* (?:District|Municipality|Borough|Parish|Township|Raion|Rural District)")
_WIDE = re.compile(
    r"(?:(?:North|South|Central|Latin|East|West|Southeast|Eastern|Western|Northern|Southern|"
    r"Sub-Saharan|Middle) )?(?:Europe|Africa|Asia|America|Americas|East|Oceania|Earth|England|"
    r"Wales|Germany|France|Italy|India|China|Japan|Australia|Ireland)|Britain|Great Britain|"
    r"U\.?S\.?(?:A\.?)?|UK|U\.K\.|United Kingdom|Soviet Union|Yugoslavia|Czechoslovakia|USSR|"
    r"British Isles|Scandinavia|.*(?:Coast|Ocean|Sea|Islands?|Mountains|Alps|Peninsula|Valley|"
    r"Hills|"
    r"Empire|Midlands|Highlands|Plateau|Mediterranean|Caribbean|Balkans)|World War.*|"
    r".*(?:West|East|North|South)"
)
"""Where something else may lie as well without its being said."""
_SAID = re.compile(
    r"^(?:It|He|She) (?P<said>(?:is|was|has|had|won|lies|served|played) [^.;]{12,90})\.$"
)


@dataclass(frozen=True, slots=True)
class Fact:
    """What a paragraph says of its subject, and in which sentence; `group` is what it may be
    compared with."""

    name: str
    group: str
    value: Any
    sentence: int


@dataclass(frozen=True, slots=True)
class Subject:
    """A paragraph with what it says of its subject."""

    paragraph: Paragraph
    facts: dict[str, Fact]

    @property
    def title(self) -> str:
        """Without what only tells it from others, as in The Kite (film)."""
        return re.sub(r"\s*\([^()]*\)$", "", self.paragraph.title)

    @property
    def is_person(self) -> bool:
        return "born" in self.facts


def facts_of(paragraph: Paragraph) -> dict[str, Fact]:
    """What the opening says, by name."""
    found: dict[str, Fact] = {}
    for number, sentence in enumerate(paragraph.sentences[:OPENING]):
        facts = _of_first(sentence) if number == 0 else _of_second(sentence)
        done = _done(sentence.strip(), paragraph.sentences[0].strip())
        for name, (group, value) in (facts | _of_any(sentence) | done).items():
            found.setdefault(name, Fact(name, group, value, number))
    if "born" in found:  # somebody lies nowhere
        found = {name: fact for name, fact in found.items() if name not in PLACES}
    return found


Found = dict[str, tuple[str, Any]]
"""name -> group, value"""


def _of_first(sentence: str) -> Found:
    found: Found = {}
    if lived := _LIVED.search(sentence):
        found |= {"born": ("person", int(lived[1])), "died": ("person", int(lived[2]))}
    elif born := _BORN.search(sentence):
        found["born"] = ("person", int(born[1]))
    if told := _IS.search(sentence):
        found |= _what_it_is(told, is_person="born" in found)
    if called := _called(sentence):
        found["called"] = (called[0].split()[-1], called)
    if (place := _IN.search(sentence.strip())) and "born" not in found:
        if place["state"]:
            found["state"] = ("state", place["state"])
        found["country"] = ("country", place["country"] or "the United States")
    return found


def unit_of(place: str) -> str:
    """What a place is as far as its name tells, so that only like is compared with like: nothing
    for one that is wide, and may hold all others."""
    bare = place.removeprefix("the ")
    if re.fullmatch(rf"{_COUNTRIES}|United States", bare) or re.fullmatch(_COUNTRIES, place):
        return "country"
    units = {"": _WIDE, "state": re.compile(_STATES), "county": _COUNTY, "province": _PROVINCE}
    units["district"] = _DISTRICT
    return next((unit for unit, one in units.items() if one.fullmatch(bare)), "place")


def _done(sentence: str, first: str) -> Found:
    """What was done to the subject, as in built in Dundee or owned by Comcast, and what it is of,
    as in a moon of Saturn; `first` is the paragraph's first sentence, to know its subject by."""
    starts = (_FIRST_IS if sentence == first else _LATER_IS).search(sentence)
    if not starts or (sentence != first and not _is_subject(starts["noun"], first)):
        return {}
    found: Found = {}
    is_of = _IT_IS_OF.match(sentence, starts.end())
    if is_of and not _NO_VALUE.fullmatch(is_of["value"]):
        found[f"{is_of['kind']} of"] = ("of", _whole(is_of))
    thing = _A_THING.match(sentence, starts.end())
    place = thing.end() if thing else starts.end()
    while so := _DONE_SO.match(sentence, place):
        place = so.end()
        is_many = so["how"] not in WHERE and so["within"].startswith(",")
        if not is_many and not _NO_VALUE.fullmatch(so["value"]):
            for done in re.findall(r"[a-z]{3,}", so["done"].replace(" and ", " ")):
                found[f"{done} {so['how']}"] = ("done", _whole(so))
    return found


def _whole(told: re.Match[str]) -> str:
    """A value, with where it lies if that is said, since many have one name."""
    return str(told["value"] + told["within"].replace(" in ", ", "))


def _is_subject(noun: str | None, first: str) -> bool:
    """Whether The {noun} is what the first sentence is about."""
    return noun is None or noun in _called(first)


def _called(sentence: str) -> tuple[str, ...]:
    """All that something is called, in one word or two: a cheap travel magazine is a travel
    magazine and a magazine; somebody may be an actor, a film director and a poet."""
    told = _CALLED.search(sentence)
    found: dict[str, None] = {}
    if not told:
        return ()
    parts = re.split(r",? and |, ", told["called"])
    is_cut = sentence[told.end() : told.end() + 1].isupper()  # a retired Democratic politician
    for place, part in enumerate(parts, 1):
        name, *more = _KIND_ENDS.split(f"{part} ", maxsplit=1)
        words = name.strip(" -").split()
        is_whole = more or place < len(parts) or not is_cut
        if words and is_whole and not _NO_NAME.fullmatch(words[-1]):
            found |= dict.fromkeys(" ".join(words[-count:]) for count in (1, 2))
        if more:
            break  # what follows is said of something else: a plant with leaves and berries
    return tuple(one for one in found if len(one) >= 4)


def _of_second(sentence: str) -> Found:
    said = _SAID.search(sentence.strip())
    return {"said": ("said", said["said"])} if said else {}


def _of_any(sentence: str) -> Found:
    years = {name: one.search(sentence) for name, one in _SINCE.items()}
    counts = {name: one.search(sentence) for name, one in _COUNTS.items()}
    found: Found = {
        name: (name, int(hit[1].replace(",", "")))
        for name, hit in (years | counts).items()
        if hit and hit[1].strip(",")
    }
    if born := _BORN_IN.search(sentence):
        found["birthplace"] = ("person", born["town"])
    related = {name: one.search(sentence) for name, one in RELATIONS.items()}
    return found | {name: (name, hit[1]) for name, hit in related.items() if hit}


def _what_it_is(told: re.Match[str], *, is_person: bool) -> Found:
    kind = _KIND_ENDS.split(told["kind"], maxsplit=1)[0].strip(" -")
    work = next((name for name in _WORKS if kind == name or kind.endswith(f" {name}")), "")
    group = "person" if is_person else work or "thing"
    is_kind = len(kind) >= 3 and len(kind.split()) <= 3 and not kind.startswith("track")
    found: Found = {}
    if told["nation"]:
        found["nation"] = (group, told["nation"])
    if is_kind:
        found["kind"] = ("person" if is_person else "thing", kind)
    if told["nation"] and is_kind:
        found["both"] = (group, f"{told['nation']} {kind}")
    if told["year"] and work:
        found["year"] = (work, int(told["year"]))
    return found

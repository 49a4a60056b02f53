"""How made comparisons are asked: {a} and {b} are the two that are compared."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Order:
    """Questions whose answer is the one of two with the smaller or the larger value, and those
    that ask whether the first has the smaller or the larger."""

    fact: str
    smaller: tuple[str, ...]
    larger: tuple[str, ...]
    is_smaller: tuple[str, ...] = ()
    is_larger: tuple[str, ...] = ()


ORDERS = (
    Order(
        "born",
        ("Who was born first, {a} or {b}?", "Who was born earlier, {a} or {b}?",
         "Who is older, {a} or {b}?", "Which person is older, {a} or {b}?",
         "Between {a} and {b}, who was born first?", "Who is the oldest, {a} or {b}?"),
        ("Who was born later, {a} or {b}?", "Who is younger, {a} or {b}?",
         "Which person is younger, {a} or {b}?"),
        ("Was {a} born before {b}?", "Is {a} older than {b}?"),
        ("Was {a} born after {b}?", "Is {a} younger than {b}?"),
    ),
    Order(
        "died",
        ("Who died first, {a} or {b}?", "Who died earlier, {a} or {b}?"),
        ("Who died later, {a} or {b}?", "Who died last, {a} or {b}?"),
        ("Did {a} die before {b}?",),
        ("Did {a} die after {b}?",),
    ),
    Order(
        "year",
        ("Which {kind} came out first, {a} or {b}?", "Which {kind} was released first, {a} or {b}?",
         "Which {kind} was released earlier, {a} or {b}?", "Was {a} or {b} released first?",
         "Which {kind} is older, {a} or {b}?"),
        ("Which {kind} is newer, {a} or {b}?", "Which {kind} was released later, {a} or {b}?",
         "Which {kind} came out more recently, {a} or {b}?"),
        ("Was the {kind} {a} released before the {kind} {b}?", "Did {a} come out before {b}?"),
        ("Was the {kind} {a} released after {b}?",),
    ),
    Order(
        "founded",
        ("Which was founded first, {a} or {b}?", "Which was established earlier, {a} or {b}?",
         "Which is older, {a} or {b}?", "Was {a} or {b} founded first?",
         "Which was formed first, {a} or {b}?"),
        ("Which was founded later, {a} or {b}?", "Which was established later, {a} or {b}?"),
        ("Was {a} founded before {b}?",),
        ("Was {a} founded after {b}?",),
    ),
    Order(
        "opened",
        ("Which opened first, {a} or {b}?", "Which opened earlier, {a} or {b}?",
         "Which was opened first, {a} or {b}?"),
        ("Which opened later, {a} or {b}?", "Which was opened more recently, {a} or {b}?"),
        ("Did {a} open before {b}?",),
        ("Did {a} open after {b}?",),
    ),
    Order(
        "built",
        ("Which was built first, {a} or {b}?", "Which is older, {a} or {b}?",
         "Which was completed earlier, {a} or {b}?"),
        ("Which was built later, {a} or {b}?", "Which is newer, {a} or {b}?"),
        ("Was {a} built before {b}?", "Is {a} older than {b}?"),
        ("Was {a} built after {b}?",),
    ),
    Order(
        "discovered",
        ("Which was discovered first, {a} or {b}?", "Which was discovered earlier, {a} or {b}?"),
        ("Which was discovered later, {a} or {b}?",),
        ("Was {a} discovered before {b}?",),
        ("Was {a} discovered after {b}?",),
    ),
    Order(
        "published",
        ("Which was published first, {a} or {b}?", "Which was first published, {a} or {b}?"),
        ("Which was published later, {a} or {b}?",),
        ("Was {a} published before {b}?",),
        ("Was {a} published after {b}?",),
    ),
    Order(
        "launched",
        ("Which was launched first, {a} or {b}?", "Which was launched earlier, {a} or {b}?"),
        ("Which was launched later, {a} or {b}?",),
        ("Was {a} launched before {b}?",),
        ("Was {a} launched after {b}?",),
    ),
    Order(
        "people",
        ("Which has fewer inhabitants, {a} or {b}?",
         "Which has the smaller population, {a} or {b}?"),
        ("Which has more inhabitants, {a} or {b}?", "Which has the larger population, {a} or {b}?",
         "Which has more people, {a} or {b}?"),
        ("Does {a} have fewer inhabitants than {b}?",),
        ("Does {a} have more inhabitants than {b}?",),
    ),
    Order(
        "species",
        ("Which genus has fewer species, {a} or {b}?",),
        ("Which genus has more species, {a} or {b}?",
         "Which genus contains more species, {a} or {b}?"),
    ),
    Order(
        "metres",
        ("Which is lower, {a} or {b}?",),
        ("Which is higher, {a} or {b}?", "Which is taller, {a} or {b}?"),
        (),
        ("Is {a} higher than {b}?",),
    ),
    Order(
        "kilometres",
        ("Which is shorter, {a} or {b}?",),
        ("Which is longer, {a} or {b}?",),
        (),
        ("Is {a} longer than {b}?",),
    ),
)  # fmt: skip
SAME = {
    "nation": (
        "Are {a} and {b} of the same nationality?", "Were {a} and {b} of the same nationality?",
        "Do {a} and {b} have the same nationality?", "Are {a} and {b} from the same country?",
        "Were both {a} and {b} from the same country?",
    ),
    "birthplace": (
        "Were {a} and {b} born in the same city?", "Were {a} and {b} born in the same place?",
        "Were both {a} and {b} born in the same town?",
    ),
    "country": (
        "Are {a} and {b} in the same country?", "Are {a} and {b} located in the same country?",
        "Are both {a} and {b} in the same country?",
    ),
    "state": (
        "Are {a} and {b} in the same state?", "Are {a} and {b} located in the same state?",
        "Are both {a} and {b} located in the same U.S. state?",
    ),
    "director": (
        "Do {a} and {b} have the same director?", "Were {a} and {b} directed by the same person?",
        "Were both {a} and {b} directed by the same director?",
    ),
    "author": (
        "Were {a} and {b} written by the same person?", "Do {a} and {b} have the same author?",
    ),
    "developer": ("Were {a} and {b} developed by the same company?",),
    "publisher": (
        "Were {a} and {b} published by the same company?",
        "Do {a} and {b} have the same publisher?",
    ),
    "family": (
        "Do {a} and {b} belong to the same family?", "Are {a} and {b} in the same family?",
        "Are {a} and {b} members of the same family?",
    ),
    "county": (
        "Are {a} and {b} in the same {unit}?", "Are {a} and {b} located in the same {unit}?",
        "Are both {a} and {b} in the same {unit}?", "Do {a} and {b} lie in the same {unit}?",
    ),
    "city": (
        "Are {a} and {b} in the same city?", "Are {a} and {b} based in the same city?",
        "Is {a} located in the same city as {b}?",
    ),
}  # fmt: skip
BOTH = {
    "nation": ("Are {a} and {b} both {value}?", "Are both {a} and {b} {value}?"),
    "kind": (
        "Are {a} and {b} both {values}?", "Are both {a} and {b} {values}?",
        "Were {a} and {b} both {values}?",
    ),
    "both": (
        "Are {a} and {b} both {values}?", "Are both {a} and {b} {values}?",
        "Were both {a} and {b} {values}?",
    ),
    "birthplace": (
        "Were {a} and {b} both born in {value}?", "Were both {a} and {b} born in {value}?",
    ),
    "country": (
        "Are {a} and {b} both in {value}?", "Are both {a} and {b} located in {value}?",
        "Are {a} and {b} both located in {value}?", "Are both {a} and {b} in {value}?",
    ),
    "director": (
        "Were {a} and {b} both directed by {value}?", "Did {value} direct both {a} and {b}?",
    ),
    "author": ("Were {a} and {b} both written by {value}?", "Did {value} write {a} and {b}?"),
    "developer": ("Were both {a} and {b} developed by {value}?",),
    "publisher": ("Were both {a} and {b} published by {value}?",),
    "family": ("Are {a} and {b} both in the family {value}?", "Are {a} and {b} both {value}?"),
    "league": ("Have {a} and {b} both been in the {value}?",),
    "city": (
        "Are {a} and {b} both in {value}?", "Are both {a} and {b} based in {value}?",
        "{a} and {b} are both from {value}?",
    ),
    "called": (
        "Are {a} and {b} both {values}?", "Are both {a} and {b} {values}?",
        "Were {a} and {b} both {values}?", "{a} and {b} are both {values}, is this true?",
    ),
}  # fmt: skip
BOTH["state"] = BOTH["county"] = BOTH["country"]
BOTH_DONE = (
    "{Be} {a} and {b} both {done} {value}?", "{Be} both {a} and {b} {done} {value}?",
    "{a} and {b} {be} both {done} {value}, is this true?",
    "Is it true that {a} and {b} {be} both {done} {value}?",
)  # fmt: skip
"""{done}: built in, owned by."""
SAME_PLACE = (
    "{Be} {a} and {b} {done} the same {unit}?", "{Be} both {a} and {b} {done} the same {unit}?",
    "{Is} {a} {done} the same {unit} as {b}?",
)  # fmt: skip
SAME_MAKER = (
    "{Be} {a} and {b} {done} the same people or company?",
    "{Be} both {a} and {b} {done} the same person or company?",
    "{Be} {a} and {b} both {done} the same one?",
)  # fmt: skip
DID_BOTH = ("Did {value} {does} both {a} and {b}?", "Did {value} {does} {a} as well as {b}?")
DOES = {
    "built by": "build", "composed by": "compose", "constructed by": "construct",
    "created by": "create", "designed by": "design", "discovered by": "discover",
    "distributed by": "distribute", "edited by": "edit", "founded by": "found",
    "illustrated by": "illustrate", "manufactured by": "manufacture", "performed by": "perform",
    "produced by": "produce", "recorded by": "record", "released by": "release",
}  # fmt: skip
"""What whoever did it did."""
PERSONAL = frozenset(
    {"coached", "hosted", "inspired", "killed", "led", "managed", "narrated", "played", "portrayed",
     "sung", "voiced", "won"}
)  # fmt: skip
"""What no company does, or not only companies."""
STILL = frozenset(
    {"administered", "based", "endemic", "found", "headquartered", "located", "maintained",
     "named", "native", "operated", "owned", "run", "set", "situated"}
)  # fmt: skip
"""What is so as long as there is something, hence asked in the present."""
SOMEWHERE = frozenset(
    {"born", "built", "buried", "constructed", "filmed", "founded", "headquartered", "held",
     "killed", "made", "manufactured", "raised", "recorded", "set", "shot"}
)  # fmt: skip
"""What is done in one place."""
BOTH_OF = (
    "Are {a} and {b} both {kinds} of {value}?", "Are both {a} and {b} {kinds} of {value}?",
    "Were {a} and {b} both {kinds} of {value}?",
    "{a} and {b} are both {kinds} of {value}, is this true?",
)  # fmt: skip
SAME_OF = (
    "Are {a} and {b} {kinds} of the same {whole}?",
    "Are both {a} and {b} {kinds} of the same {whole}?",
    "{a} and {b} are {kinds} of the same {whole}, is this true?",
)  # fmt: skip
WHOLES = {
    "borough": "city", "brand": "company", "campus": "university", "college": "university",
    "dialect": "language", "genus": "family", "graduate": "school",
    "imprint": "publisher", "moon": "planet",
    "satellite": "planet", "species": "genus", "subsidiary": "company", "subspecies": "species",
    "suburb": "city", "tributary": "river",
}  # fmt: skip
"""What something of a kind is one of."""
BRITISH = frozenset({"England", "Scotland", "Wales", "Northern Ireland", "Ireland"})
"""Near each other, and not the same; whether in the same country depends on who is asked."""
WIDER = {"England": "the United Kingdom", "Scotland": "the United Kingdom", "Wales": "Britain"}
"""Where a country lies, for those that ask more widely."""
_WORKS_OF = {
    "musician": "singer|songwriter|guitarist|drummer|pianist|rapper|vocalist|bassist|violinist|"
    "cellist|saxophonist|keyboardist|singer-songwriter|composer|conductor",
    "athlete": "footballer|swimmer|cyclist|boxer|wrestler|sprinter|gymnast|skier|golfer|rower|"
    "cricketer|runner|jumper|biathlete|fencer|player|racer|forward|midfielder|goalkeeper|pitcher",
    "writer": "novelist|poet|playwright|essayist|dramatist|author|journalist|screenwriter",
    "scientist": "physicist|chemist|biologist|botanist|astronomer|geologist|zoologist|ecologist|"
    "entomologist|biochemist|geneticist|mathematician|paleontologist",
    "artist": "painter|sculptor|illustrator|printmaker|photographer",
    "actor": "actress",
}
WIDER_WORK = {work: wide for wide, works in _WORKS_OF.items() for work in works.split("|")}
"""What somebody may be called as well: a drummer is a musician."""
FAR = frozenset({"politician", "lawyer", "judge", "bishop", "businessman", "economist", "engineer"})
"""Who does none of that, as far as one can know."""
SHARED_NATION = (
    "What nationality do {a} and {b} share?", "{a} and {b} are both of what nationality?",
    "What nationality were both {a} and {b}?",
)  # fmt: skip
SHARED_WORK = (
    "What occupation do {a} and {b} share?", "What profession do {a} and {b} have in common?",
    "{a} and {b} share which occupation?",
)  # fmt: skip
SHARED_KIND = ("What are both {a} and {b}?", "{a} and {b} are both what?")
SHARED_PLACE = ("In which {name} are both {a} and {b}?", "{a} and {b} are both in which {name}?")


def plural(kind: str) -> str:
    """Of one word or several, as English mostly has it."""
    if kind == "genus":
        return "genera"
    if kind.endswith(("s", "x", "ch", "sh")):
        return kind if kind.endswith(("series", "species")) else f"{kind}es"
    if kind.endswith("y") and kind[-2] not in "aeiou":
        return f"{kind[:-1]}ies"
    is_man = kind.endswith("man") and not kind.endswith("human")
    return f"{kind[:-3]}men" if is_man else f"{kind}s"

"""English words too common to search for: articles, pronouns, auxiliaries, particles, clitics."""

_WORDS = """
a an the and or but nor if than then so as because while until although though
i me my mine myself we us our ours ourselves you your yours yourself yourselves
he him his himself she her hers herself it its itself they them their theirs themselves
this that these those who whom whose which what when where why how there here
am is are was were be been being have has had having do does did doing done
can could will would shall should may might must
of at by for with about against between into through during before after above below
to from up down in out on off over under again further once
all any both each few more most other some such no not only own same too very just also now
's 't 'd 'll 'm 're 've n't ’s ’t ’d ’ll ’m ’re ’ve n’t
s t d ll m re ve ain aren couldn didn doesn don hadn hasn haven isn shouldn wasn weren won
wouldn
"""

STOP_WORDS = frozenset(_WORDS.split())

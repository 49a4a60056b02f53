"""A generated world of people, cities and countries, whose questions take two hops."""

import json
import re
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest

SYLLABLES = ("ba", "do", "ki", "lu", "me", "no", "ri", "sa", "te", "vu")
JOBS = ("painter", "doctor", "singer", "pilot", "baker", "judge")


def _names(count: int, rng: np.random.Generator) -> list[str]:
    """Distinct made-up names of three syllables."""
    chosen = rng.choice(len(SYLLABLES) ** 3, size=count, replace=False).tolist()
    digits = [(n // 100, n // 10 % 10, n % 10) for n in chosen]
    return ["".join(SYLLABLES[d] for d in three).capitalize() for three in digits]


def _question(person: int, people: list[str], home: list[int], world: dict[str, list[str]],
              rng: np.random.Generator) -> dict[str, object]:  # fmt: skip
    cities, rivers = world["cities"], world["rivers"]
    others = rng.choice([p for p in range(len(people)) if p != person], size=4, replace=False)
    elsewhere = [c for c in range(len(cities)) if c != home[person]]
    far = rng.choice(elsewhere, size=4, replace=False)
    context = [
        [people[p], [f"{people[p]} is a {JOBS[p % len(JOBS)]}.", f" Born in {cities[home[p]]}."]]
        for p in (person, *others.tolist())
    ]
    context += [
        [cities[c], [f"{cities[c]} is a city.", f" It lies on the river {rivers[c]}."]]
        for c in (home[person], *far.tolist())
    ]
    return {
        "_id": f"tiny-{person}",
        "question": f"On which river was {people[person]} born?",
        "answer": rivers[home[person]],
        "type": "bridge",
        "supporting_facts": [[people[person], 1], [cities[home[person]], 1]],
        "context": [context[place] for place in rng.permutation(len(context))],
    }


def write_tiny_world(directory: Path, people: int = 260, cities: int = 20, dev: int = 60) -> None:
    """train.json, dev.json (other people, the same cities) and vectors.txt."""
    rng = np.random.default_rng(0)
    names = _names(people + 2 * cities, rng)
    world = {"cities": names[people : people + cities], "rivers": names[people + cities :]}
    home = rng.integers(cities, size=people).tolist()
    everyone = [_question(p, names[:people], home, world, rng) for p in range(people)]
    (directory / "train.json").write_text(json.dumps(everyone[dev:]))
    (directory / "dev.json").write_text(json.dumps(everyone[:dev]))
    words = [*re.findall(r"\S+", "on which river was born in is a city it lies the ? ."), *JOBS]
    lines = [
        f"{word} " + " ".join(f"{x:.4f}" for x in rng.normal(size=48) * 0.5)
        for word in [*words, *names]
    ]
    (directory / "vectors.txt").write_text("\n".join(lines) + "\n")


def ask_in_all_ways(directory: Path) -> None:
    """Of the same paragraphs a quarter of the questions each: river, city, job, and yes or no."""
    for path in (directory / "train.json", directory / "dev.json"):
        questions = json.loads(path.read_text())
        for number, question in enumerate(questions):
            (person, _), (city, _) = question["supporting_facts"]
            job = dict(question["context"])[person][0].split()[-1].rstrip(".")
            is_right = number % 8 == 3
            asked = job if is_right else JOBS[(JOBS.index(job) + 2) % len(JOBS)]
            text, answer, sentences = (
                (f"On which river was {person} born?", question["answer"], (1, 1)),
                (f"In which city was {person} born?", city, (1, 0)),
                (f"Which is {person}?", job, (0, 0)),
                (f"Is {person} a {asked}?", "yes" if is_right else "no", (0, 0)),
            )[number % 4]
            facts = [[title, n] for title, n in zip((person, city), sentences, strict=True)]
            question |= {"question": text, "answer": answer, "supporting_facts": facts}
        path.write_text(json.dumps(questions))


@pytest.fixture(scope="session")
def demo_questions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The bundled questions, each with its gold paragraphs and two others as its context."""
    demo = Path(str(files("muppet") / "demo"))
    lines = (demo / "paragraphs.jsonl").read_text(encoding="utf-8").splitlines()
    sentences = {row["title"]: row["sentences"] for row in map(json.loads, lines)}
    questions = json.loads((demo / "questions.json").read_text(encoding="utf-8"))
    titles = sorted(sentences)
    for place, question in enumerate(questions):
        gold = dict.fromkeys(title for title, _ in question["supporting_facts"])
        others = [title for title in titles[place:] + titles if title not in gold][:2]
        question["context"] = [[title, sentences[title]] for title in [*gold, *others]]
    path = tmp_path_factory.mktemp("demo") / "questions.json"
    path.write_text(json.dumps(questions), encoding="utf-8")
    return path


@pytest.fixture
def tiny_world_of_all_questions(tiny_world: Path) -> Path:
    ask_in_all_ways(tiny_world)
    return tiny_world


@pytest.fixture
def tiny_world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory with the world in it, which is also where commands run."""
    write_tiny_world(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path

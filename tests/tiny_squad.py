"""Questions of one hop in SQuAD's form, over articles that we made up."""

import json
from pathlib import Path


def write_tiny_squad(path: Path) -> None:
    """Two articles of eight paragraphs each, which share ever fewer words with the first one's."""
    articles = []
    for name in ("Owls", "Kites"):
        words = [f"{name.lower()}{n}" for n in range(9)]
        contexts = [" ".join([*words[: 9 - n], f"end{n}"]) + "." for n in range(8)]
        paragraphs = [
            {
                "context": context,
                "qas": [
                    {
                        "id": f"{name}-{n}",
                        "question": f"What of {' '.join(words)}?",
                        "answers": [{"text": f"end{n}", "answer_start": context.index("end")}],
                    }
                ],
            }
            for n, context in enumerate(contexts)
        ]
        articles.append({"title": name, "paragraphs": paragraphs})
    path.write_text(json.dumps({"version": "1.1", "data": articles}))

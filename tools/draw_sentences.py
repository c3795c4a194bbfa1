"""Draw sentences of code, views and documents, to be rated by the rule of plain English.

``python tools/draw_sentences.py --seed 7 --count 100`` prints them with their places. A sentence
passes if a reader of the field understands it at the first reading.
"""

import argparse
import ast
import io
import random
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
_LEAST_WORDS = 5
_END = re.compile(r"(?<=[.:?])\s+(?=[A-Z`])")
_STRING = re.compile(r'"((?:[A-Z][^"\\{}<>]{15,}))"')


def main() -> None:
    """Print the sentences, and the seed that repeats them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 32))
    parser.add_argument("--count", type=int, default=100)
    given = parser.parse_args()
    kinds = {"code": [*of_code()], "views": [*of_views()], "docs": [*of_docs()]}
    rng = random.Random(given.seed)
    print(f"seed {given.seed}: {', '.join([f'{len(v):,} of {k}' for k, v in kinds.items()])}")
    drawn = [
        rng.choice(kinds[rng.choice(["code", "code", "views", "docs"])]) for _ in range(given.count)
    ]
    for number, (place, sentence) in enumerate(drawn, 1):
        print(f"{number:3} {place}: {sentence}")


def of_code() -> Iterator[tuple[str, str]]:
    """Yield sentences of docstrings, comments and messages."""
    for path in sorted((ROOT / "lance_explorer").rglob("*.py")):
        if "_pb" in path.parts or "widgets" in path.parts:
            continue
        text, name = path.read_text("utf-8"), str(path.relative_to(ROOT))
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                prose = node.value.split("Examples\n")[0]
                yield from sentences(f"{name}:{node.lineno}", prose)
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.COMMENT:
                yield from sentences(f"{name}:{token.start[0]}", token.string.lstrip("# "))


def of_views() -> Iterator[tuple[str, str]]:
    """Yield texts of the views: strings of their Python and TypeScript."""
    for path in sorted((ROOT / "frontend" / "src").rglob("*.ts*")):
        for found in _STRING.finditer(path.read_text("utf-8")):
            yield from sentences(str(path.relative_to(ROOT)), found[1])
    for path in sorted((ROOT / "lance_explorer" / "widgets").rglob("*.py")):
        text, name = path.read_text("utf-8"), str(path.relative_to(ROOT))
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield from sentences(f"{name}:{node.lineno}", node.value.split("Examples\n")[0])


def of_docs() -> Iterator[tuple[str, str]]:
    """Yield sentences of the documents."""
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    for path in sorted(pages):
        text = re.sub(r"```.*?```", "", path.read_text("utf-8"), flags=re.DOTALL)
        blocks = re.split(r"\n\s*\n|\n(?=[-*|#\d])", text)
        for block in blocks:
            if not block.startswith(("|", "#", "!")):
                yield from sentences(str(path.relative_to(ROOT)), block.lstrip("-* "))


def sentences(place: str, prose: str) -> Iterator[tuple[str, str]]:
    """Yield the sentences of a text, each with its place."""
    for paragraph in re.split(r"\n\s*\n|-{4,}", prose):
        for sentence in _END.split(" ".join(paragraph.split())):
            if len(sentence.split()) >= _LEAST_WORDS and sentence[0].isalpha():
                yield place, sentence


if __name__ == "__main__":
    main()

"""docs/settings.md has every setting, with its default."""

import re
import tomllib

from pages import DOCS

from muppet.config import Config, to_table

ROW = re.compile(r"^\| `(\w+)\.(\w+)` \| `(.+?)` \| .+ \|$", re.M)


def test_the_page_has_every_setting_with_its_default() -> None:
    rows = ROW.findall((DOCS / "settings.md").read_text(encoding="utf-8"))
    told: dict[str, dict[str, object]] = {}
    for stage, name, default in rows:
        assert name not in told.setdefault(stage, {})
        told[stage][name] = tomllib.loads(f"default = {default}")["default"]
    usual = to_table(Config())
    assert told.keys() == usual.keys()
    for stage, settings in usual.items():
        plain = {n: [*v] if isinstance(v, tuple) else v for n, v in settings.items()}
        assert told[stage] == plain

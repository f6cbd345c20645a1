"""For a few texts Python runs the kernels itself: the results are those of compiled code."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

TEXTS = {
    "facts": [
        "Alder Bridge was built in 1898 by the engineer Maria Holt and carried trams until the summer of 1954.",
        "Alder Bridge was built in 1898 by the engineer Maria Holt and carried trams until the summer of 1956.",
        "The museum holds more than 12,000 maps, most of them drawn by hand in the 1970s.",
        "The museum holds more than 12,000 maps, most of them drawn by hand in 1971.",
        "The museum does not hold more than 12,000 maps, most of them drawn by hand in 1971.",
        "The United States of America signed it on 3 May 1990.",
        "The US signed it on 4 May 1990.",
    ],
    "scripts": [
        "北京是中华人民共和国的首都和直辖市位于华北平原的北部背靠燕山毗邻天津市和河北省。",
        "北京是中华人民共和国的首都和直辖市位于华北平原的北部背靠燕山毗邻天津市。",
        "Мост через реку был построен в 1898 году и служил городу до лета 1954 года.",
        "Мост через реку был построен в 1898 году и служил городу до лета 1956 года.",
        "تم بناء الجسر في عام ١٨٩٨ وكان يحمل الترام حتى صيف عام ١٩٥٤ في المدينة القديمة.",
        "تم بناء الجسر في عام ١٨٩٨ وكان يحمل الترام حتى صيف عام ١٩٥٦ في المدينة القديمة.",
        "Straße ＦＵＬＬ １２３ ﬁne ΟΔΟΣ ½ 10⁸ a\u0301 Ａ ｶﾞ",
        "STRASSE full 123 fine οδος ½ 10⁸ á a が",
    ],
}

RUN = """
import sys, esdedup
from esdedup.columns import kernels
kernels._PLAIN_SECONDS = {seconds}
choices = [{{"exact": True}}, {{"unit": "sentence", "min_chars": 0}}, {{"normalize": "fold-accents"}}]
for name in sys.argv[1:]:
    for at, options in enumerate(choices):
        out = f"{folder}/{{name}}-{{at}}"
        esdedup.run(f"{{name}}.tsv", out=out, report=False, quiet=True, jaccard=0.5, **options)
        with open(f"{folder}/{{name}}-{{at}}.txt", "w") as file:
            for found in esdedup.similar("The bridge was built 1898", store=f"{{out}}/store.duckdb", limit=5):
                print(found.to_dict(), file=file)
    esdedup.dedupe(f"{{name}}.tsv", out=f"{folder}/{{name}}-dedupe", contained=0.8, quiet=True)
print(sum(kernel._made is not None for kernel in kernels._KERNELS.values()))
"""


def test_python_finds_what_compiled_code_finds(tmp_path: Path) -> None:
    for name, texts in TEXTS.items():
        (tmp_path / f"{name}.tsv").write_text("".join(f"{at}\t{text}\n" for at, text in enumerate(texts)), "utf-8")
    compiled = []
    for folder, seconds in (("plain", 1e9), ("compiled", -1)):
        code = RUN.format(folder=folder, seconds=seconds)
        done = subprocess.run(
            [sys.executable, "-c", code, *TEXTS], cwd=tmp_path, check=True, capture_output=True, text=True
        )
        compiled.append(int(done.stdout))
    assert compiled[0] < compiled[1] / 2
    files = sorted(path for path in (tmp_path / "plain").rglob("*") if path.suffix in (".jsonl", ".txt", ".tsv"))
    assert len(files) > 25
    for path in files:
        assert path.read_bytes() == (tmp_path / "compiled" / path.relative_to(tmp_path / "plain")).read_bytes(), path

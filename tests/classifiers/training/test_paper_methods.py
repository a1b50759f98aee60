"""The models of the papers' methods are made from texts and pages, the same bytes each time."""

import tarfile
from pathlib import Path

from classifiers.lab.page_methods import cai_models, cavnar_trenkle, nfc, top_level_domain
from classifiers.training.paper_methods import main

SENTENCES = {
    "de": "Am Abend gingen wir durch die stillen Gassen der alten Stadt nach Hause.",
    "fr": "Le soir nous sommes rentrés par les ruelles calmes de la vieille ville.",
}


def test_each_shipped_file_is_made_from_languages_with_enough_text(tmp_path: Path) -> None:
    texts, pages = tmp_path / "texts.tsv", tmp_path / "pages"
    rows = [
        f"{n} {text}\t{lang}\tsentence\ts" for lang, text in SENTENCES.items() for n in range(50)
    ]
    rows.append("Hei på deg\tno\tsentence\ts")
    texts.write_text("\n".join(["text\tlang\tkind\tsource", *rows, ""]), encoding="utf-8")
    pages.mkdir()
    table = "id\turl\tlang\tkind\tpath\tdeclared_charset\n1\thttp://a.de/\tde\tweb\ta\t\n"
    (pages / "pages.tsv").write_text(table, encoding="utf-8")
    with tarfile.open(pages / "html.tar", "w") as archive:
        archive.addfile(tarfile.TarInfo("a"))
    made = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        assert main([str(texts), str(pages), "--folder", str(tmp_path / name)]) == 0
        made.append({path.name: path.read_bytes() for path in (tmp_path / name).iterdir()})
    assert made[0] == made[1]
    modules = (cavnar_trenkle, nfc, cai_models, top_level_domain)
    assert made[0].keys() == {module.SHIPPED.name for module in modules}
    model = nfc.load(tmp_path / "one" / nfc.SHIPPED.name)
    assert set(model.languages) == {"de", "fr"}

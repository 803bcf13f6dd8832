"""The checker complains where it should: python3 -m unittest discover scripts/docs."""

from __future__ import annotations

import tempfile
import unittest
from pathlib import Path
from unittest import mock

import documents
import static
from commands import Builds, Folder
from maths import typeset
from source_links import rewritten


def blocks_of(text: str) -> list[documents.Block]:
    """The blocks of a page with this text."""
    with tempfile.TemporaryDirectory(dir=documents.ROOT / "docs") as folder:
        page = Path(folder) / "page.md"
        page.write_text(text, encoding="utf-8")
        return list(documents.blocks(page))


def complaints_about(text: str) -> str:
    """What is said of its blocks."""
    return "\n".join(wrong for block in blocks_of(text) for wrong in static._block(block))


class Blocks(unittest.TestCase):
    def test_instructions_belong_to_the_next_block_only(self) -> None:
        first, second = blocks_of("<!-- slow -->\n<!-- exit: 2 -->\n```sh\na\n```\n\n```sh\nb\n```\n")
        self.assertEqual(first.instructions, {"slow": "", "exit": "2"})
        self.assertEqual((second.instructions, second.line), ({}, 8))

    def test_a_text_block_at_once_after_is_what_is_printed(self) -> None:
        shown, _ = blocks_of("```sh\na\n```\n\n```text\nout\n```\n")
        self.assertEqual(shown.after, "out\n")
        apart, _ = blocks_of("```sh\na\n```\n\nwords\n\n```text\nout\n```\n")
        self.assertIsNone(apart.after)

    def test_blocks_in_lists_lose_their_indentation(self) -> None:
        (block,) = blocks_of("- item\n\n  ```sh\n  if a; then\n    b\n  fi\n  ```\n")
        self.assertEqual(block.code, "if a; then\n  b\nfi\n")

    def test_what_is_unknown_or_unsaid_is_a_complaint(self) -> None:
        self.assertIn("language", complaints_about("```\na\n```\n"))
        self.assertIn("language", complaints_about("```bash\na\n```\n"))
        self.assertIn("says nothing", complaints_about("<!-- not run: -->\n```sh\na\n```\n"))
        self.assertIn("none of", complaints_about("<!-- norun: why -->\n```sh\na\n```\n"))
        self.assertIn("no example", complaints_about("```rust\nfn nowhere() {}\n```\n"))
        self.assertEqual("", complaints_about("<!-- not run: a sketch -->\n```rust\nfn nowhere() {}\n```\n"))
        with self.assertRaises(ValueError):
            blocks_of("```sh\na\n")

    def test_a_block_without_a_mark_is_run(self) -> None:
        folder = Folder(Builds(Path("/nowhere")))
        try:
            run = [folder.run(block) for block in blocks_of("```sh\ntrue\n```\n\n```sh\nfalse\n```\n")]
            self.assertIsNone(run[0])
            self.assertIn("ended with 1", run[1] or "")
            (stranger,) = blocks_of("```sh\ncargo publish\n```\n")
            self.assertIn("no stand-in", folder.run(stranger) or "")
            (recipe,) = blocks_of("```sh\njust no-such-recipe\n```\n")
            self.assertIn("no stand-in", folder.run(recipe) or "")
            (outside,) = blocks_of("<!-- file: ../outside -->\n```text\na\n```\n")
            self.assertIn("not in the page's folder", folder.run(outside) or "")
            written, read = blocks_of(
                "<!-- file: a/b.txt -->\n```text\nhello\n```\n\n```sh\ngrep hello a/b.txt\n```\n"
            )
            self.assertEqual([folder.run(written), folder.run(read)], [None, None])
            printed, _ = blocks_of("```sh\necho one  two\n```\n\n```text\none two\n```\n")
            self.assertIsNone(folder.run(printed))
            printed.after = "three\n"
            self.assertIn("does not print", folder.run(printed) or "")
        finally:
            folder.close()

    def test_what_does_not_end_is_ended(self) -> None:
        folder = Folder(Builds(Path("/nowhere")))
        (block,) = blocks_of("```sh\nsleep 60 & wait\n```\n")
        try:
            with mock.patch("commands.TIMEOUT", 0.2):
                self.assertIn("not done after", folder.run(block) or "")
        finally:
            folder.close()


class Links(unittest.TestCase):
    def test_links_may_break_over_lines_and_code_is_no_link(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            page = Path(folder) / "page.md"
            page.write_text(
                "a [b\nc](d.md#e) `[no](link)`\n```text\n[no](link)\n```\n![p](q.svg)\n", encoding="utf-8"
            )
            self.assertEqual(list(documents.links(page)), [(1, "d.md#e"), (6, "q.svg")])

    def test_headings_have_the_addresses_that_mdbook_gives_them(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            page = Path(folder) / "page.md"
            page.write_text(
                "# A `b` c\n## [[method]], one or more\n## A b c\n## π_R and c_π\n", encoding="utf-8"
            )
            wanted = {"a-b-c", "method-one-or-more", "a-b-c-1", "π_r-and-c_π"}
            self.assertEqual(documents.anchors(page), wanted)

    def test_links_out_of_the_book_become_text_or_addresses(self) -> None:
        text = "[`x`](../crates/oneway/src/lib.rs) and [theory.md](theory.md#trust) and [it](waist.md)"
        alone = rewritten(text, "page.md", None)
        self.assertIn('title="crates/oneway/src/lib.rs, in the repository">`x`</span>', alone)
        self.assertIn("[Theory that computes](theory.md#trust) and [it](waist.md)", alone)
        self.assertIn(
            "(https://host/a/blob/HEAD/crates/oneway/src/lib.rs)",
            rewritten(text, "page.md", "https://host/a"),
        )


class Maths(unittest.TestCase):
    def test_subscripts_are_set_and_names_are_not(self) -> None:
        self.assertEqual(typeset("Σ_j R_ij x_j⁺"), "Σ<sub>j</sub> R<sub>ij</sub> x<sub>j</sub>⁺")
        self.assertEqual(typeset("nπ_C,i, φ_{k+1}ᵀ"), "nπ<sub>C,i</sub>, φ<sub>k+1</sub>ᵀ")
        self.assertEqual(typeset("R^K, C_ii^k"), "R<sup>K</sup>, C<sub>ii</sub><sup>k</sup>")
        for kept in (
            "state_hash",
            "`x_i`",
            "# x_i",
            "[a](x_i.md)",
            "```text\nx_i\n```",
            "    x_i",
            "test_docs.py",
        ):
            self.assertEqual(typeset(kept), kept)


if __name__ == "__main__":
    unittest.main()

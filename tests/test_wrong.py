"""What tests/wrong.py must refuse, and what it must write: a rule that is no guard, an edit that does not fit."""
import os
import subprocess
import sys
import tempfile
import unittest

import wrong

SOURCE = """#include "room/a.h"

int a(int x)
{
    if (SOTTO_RULE(small) && x > 9)
        return 0;
    x = x + 1;
    return x;
}
"""
EDITS = """# A comment.

== grows
-    x = x + 1;
+    x = SOTTO_RULE(grows) ? x + 1 : x;
     return x;
"""


class Tree(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.write("src/room/a.c", SOURCE)
        self.write("tests/wrong/room/a.txt", EDITS)
        self.write("apps/b.c", "int b;\n")

    def tearDown(self):
        self.folder.cleanup()

    def write(self, path, text):
        path = os.path.join(self.folder.name, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    def run_wrong(self, *arguments):
        return subprocess.run([sys.executable, "-B", wrong.__file__, *arguments], cwd=self.folder.name,
                              capture_output=True, text=True, check=False)

    def refused(self, why):
        self.assertIn(why, "".join(wrong.check(self.folder.name)))

    def test_a_tree_with_guards_and_edits_that_fit_passes(self):
        run = self.run_wrong("--check", ".")
        self.assertEqual((run.returncode, run.stdout), (0, ""))

    def test_a_check_that_fails_says_so_and_where(self):
        self.write("apps/b.c", "int b = SOTTO_RULE(r);\n")
        run = self.run_wrong("--check", ".")
        self.assertEqual(run.returncode, 1)
        self.assertIn("apps/b.c:1: not a guard", run.stdout)

    def test_every_other_form_of_a_rule_is_refused(self):
        for form, why in [
            ("if (!SOTTO_RULE(r))\n        return 1;", "begins otherwise"),
            ("if (!SOTTO_RULE(r) && x)\n        return 1;", "begins otherwise"),
            ("if (SOTTO_RULE(r))\n        return 1;", "begins otherwise"),
            ("if (x && SOTTO_RULE(r))\n        return 1;", "begins otherwise"),
            ("if (SOTTO_RULE(r) || x)\n        return 1;", "begins otherwise"),
            ("if (SOTTO_RULE(r) && x || y)\n        return 1;", "alternatives"),
            ("if (SOTTO_RULE(r) && x ? y : 1)\n        return 1;", "alternatives"),
            ("if (SOTTO_RULE(r) && x)\n        return 1;\n    else\n        x = 2;", "an else"),
            ("if (SOTTO_RULE(r) && x) {\n        for (;;) {\n        }\n    } else {\n        x = 2;\n    }", "an else"),
            ("return SOTTO_RULE(r) ? 1 : 0;", "begins otherwise"),
            ("x = SOTTO_RULE(r) && x;", "begins otherwise"),
            ("while (SOTTO_RULE(r) && x)\n        x = 1;", "begins otherwise"),
            ("#ifdef SOTTO_RULES\n    x = 1;\n#endif", "is no SOTTO_RULE(name)"),
        ]:
            for path in "src/room/a.c", "apps/b.c", "src/room/c.h":
                with self.subTest(form=form, path=path):
                    self.write(path, SOURCE.replace("    x = x + 1;", "    " + form + "\n    x = x + 1;"))
                    self.refused(why)
                self.tearDown()
                self.setUp()

    def test_comments_and_texts_are_no_rules(self):
        self.write("apps/b.c", '/* !SOTTO_RULE(r) */\nconst char *b = "SOTTO_RULE(r) ? \\" : 1"; // SOTTO_RULE(r)\n')
        self.assertEqual(wrong.check(self.folder.name), [])

    def test_an_edit_fits_its_source_exactly_once(self):
        self.write("src/room/a.c", SOURCE.replace("x + 1", "x + 2"))
        self.refused("0 times")
        self.write("src/room/a.c", SOURCE + SOURCE)
        self.refused("2 times")
        self.write("src/room/a.c", SOURCE)
        self.write("tests/wrong/room/a.txt", EDITS + "\n" + EDITS)
        self.refused("overlaps")

    def test_an_edit_names_its_rules_its_place_and_its_source(self):
        self.write("tests/wrong/room/a.txt", EDITS.replace("== grows", "== shrinks"))
        self.refused("name the rules")
        self.write("tests/wrong/room/a.txt", EDITS.replace("SOTTO_RULE(grows)", "x"))
        self.refused("name the rules")
        self.write("tests/wrong/room/a.txt", "== grows\n+SOTTO_RULE(grows)\n")
        self.refused("where it belongs")
        self.write("tests/wrong/room/a.txt", EDITS.replace("-    x", "*    x"))
        self.refused("neither an edit nor a comment")
        self.write("tests/wrong/room/a.txt", EDITS)
        self.write("tests/wrong/room/b.txt", EDITS)
        self.refused("edits no source")

    def test_the_copy_has_the_edit_and_says_where_its_lines_come_from(self):
        run = self.run_wrong("tests/wrong/room/a.txt", "src/room/a.c", "out/a.c")
        self.assertEqual(run.returncode, 0, run.stdout)
        with open(os.path.join(self.folder.name, "out/a.c"), encoding="utf-8") as file:
            copy = file.read()
        self.assertEqual(copy, '#include "base/rule.h"\n#line 1 "src/room/a.c"\n' + SOURCE.replace(
            "    x = x + 1;\n", '#line 5 "tests/wrong/room/a.txt"\n    x = SOTTO_RULE(grows) ? x + 1 : x;\n'
            '#line 8 "src/room/a.c"\n'))

    def test_a_copy_that_can_not_be_made_fails_the_build(self):
        self.write("src/room/a.c", "int a;\n")
        run = self.run_wrong("tests/wrong/room/a.txt", "src/room/a.c", "out/a.c")
        self.assertEqual(run.returncode, 1)
        self.assertFalse(os.path.exists(os.path.join(self.folder.name, "out/a.c")))


if __name__ == "__main__":
    unittest.main()

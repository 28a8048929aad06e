#!/usr/bin/env python3
"""mend.py OUT: a copy of this peer, and of the crate prio from cargo's own cache, whose one quadratic step is a dot product.

The step recovers the last of n values of a polynomial at the powers of a root of unity w, of degree below n - 1. Its highest
coefficient is 0, which is the mean of value i times w^i: the last value is -w times the sum over the others. Where more than one
value is missing, the crate's own function is called as before. Nothing of the crate is in this tree: the copy is made in OUT.
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys

STEP = "pub(crate) fn extend_values_to_power_of_2<"
MENDED = """
pub(crate) fn extend_values_to_power_of_2<F: NttFriendlyFieldElement>(values: &mut [F], known: usize) {
    let all = values.len();
    if all < 2 || known + 1 != all {
        return extend_as_before(values, known);
    }
    let roots: Vec<F> = nth_root_powers(all);
    let mut sum = F::zero();
    for (root, value) in roots.iter().zip(&values[..known]) {
        sum += *root * *value;
    }
    values[known] = -(roots[1] * sum);
}
"""


def crate_of(manifest):
    told = subprocess.run(["cargo", "metadata", "--format-version", "1", "--offline", "--locked", "--manifest-path", manifest],
                          check=True, capture_output=True, text=True).stdout
    found = [p for p in json.loads(told)["packages"] if p["name"] == "prio"]
    return pathlib.Path(found[0]["manifest_path"]).parent


def main():
    here, out = pathlib.Path(__file__).resolve().parent, pathlib.Path(sys.argv[1])
    shutil.rmtree(out, ignore_errors=True)
    shutil.copytree(here, out / "bench")
    shutil.copytree(crate_of(str(here / "Cargo.toml")), out / "prio")
    path = out / "prio" / "src" / "polynomial.rs"
    os.chmod(path, 0o644)
    text = path.read_text()
    if text.count(STEP) != 1:
        sys.exit("mend.py: this version of the crate has another step; measure it as it is")
    head, tests, rest = text.replace(STEP, "fn extend_as_before<").partition("#[cfg(test)]")
    path.write_text(head + MENDED + "\n" + tests + rest)
    with open(out / "bench" / "Cargo.toml", "a") as manifest:
        manifest.write('\n[patch.crates-io]\nprio = { path = "../prio" }\n')
    return 0


if __name__ == "__main__":
    sys.exit(main())

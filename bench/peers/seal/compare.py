#!/usr/bin/env python3
"""SEAL's BFV beside ours: encrypt, add and decrypt at degree 4096, in one run on one core.

    python3 -m venv /tmp/seal && /tmp/seal/bin/pip install -r bench/peers/seal/requirements.txt
    /tmp/seal/bin/python bench/peers/seal/compare.py build/release/sotto-bench

SEAL's default modulus for this degree has 72 bits for ciphertexts, ours 64, 87 or 109. Where SEAL is not installed the
comparison is skipped, and says so.
"""
import json
import subprocess
import sys
import time


def ours(bench):
    rows = {}
    for case in (f"aero/{s}/{o}" for s in ("b64", "b87", "b109") for o in ("encrypt", "add", "decrypt")):
        lines = subprocess.run(
            [bench, "--filter", case, "--seconds", "0.3", "--json"], check=True, capture_output=True, text=True
        ).stdout.splitlines()
        for row in map(json.loads, lines):
            if "ns_per_op" in row:
                rows[row["name"]] = row["ns_per_op"] / 1000
    return rows


def best(work, times=5, calls=100):
    took = []
    for _ in range(times):
        start = time.process_time()
        for _ in range(calls):
            work()
        took.append((time.process_time() - start) / calls * 1e6)
    return min(took)


def theirs(seal):
    parameters = seal.EncryptionParameters(seal.scheme_type.bfv)
    parameters.set_poly_modulus_degree(4096)
    parameters.set_coeff_modulus(seal.CoeffModulus.BFVDefault(4096))
    parameters.set_plain_modulus(seal.PlainModulus.Batching(4096, 20))
    context = seal.SEALContext(parameters)
    keys = seal.KeyGenerator(context)
    encryptor = seal.Encryptor(context, keys.create_public_key())
    evaluator = seal.Evaluator(context)
    decryptor = seal.Decryptor(context, keys.secret_key())
    plain = seal.BatchEncoder(context).encode([i % 1000 for i in range(4096)])
    cipher = encryptor.encrypt(plain)
    return {
        "encrypt": best(lambda: encryptor.encrypt(plain)),
        "add": best(lambda: evaluator.add_inplace(cipher, cipher)),
        "decrypt": best(lambda: decryptor.decrypt(cipher)),
    }


def main():
    try:
        import seal
    except ImportError:
        print("skipped: seal-python is not installed")
        return 77
    peer, mine = theirs(seal), ours(sys.argv[1])
    print("| operation | SEAL | b64 | b87 | b109 |   (microseconds)")
    for name in ("encrypt", "add", "decrypt"):
        row = [mine.get(f"aero/{s}/{name}", float("nan")) for s in ("b64", "b87", "b109")]
        print(f"| {name} | {peer[name]:.1f} | " + " | ".join(f"{x:.1f}" for x in row) + " |")
    return 0


if __name__ == "__main__":
    sys.exit(main())

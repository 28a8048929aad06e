#!/usr/bin/env python3
"""test_seconds.py BUILD [REGEX [JOBS]]: runs the tests of BUILD whose names match, and prints the CPU seconds of each, the largest last.

ctest tells how long a test took, which on a busy machine says little. This counts user and system time of all its processes, those
that it left behind included (a server of PostgreSQL, say). It knows nothing of fixtures, locks and dependencies between tests.
"""
import concurrent.futures
import ctypes
import json
import os
import re
import resource
import subprocess
import sys
import time

PR_SET_CHILD_SUBREAPER = 36


def run(test, build):
    """Child: becomes the parent of all that the test leaves behind, and waits for it."""
    properties = {p["name"]: p["value"] for p in test.get("properties", [])}
    environment = dict(os.environ)
    environment.update(pair.split("=", 1) for pair in properties.get("ENVIRONMENT", []))
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    began = time.monotonic()
    code = subprocess.run(test["command"], cwd=properties.get("WORKING_DIRECTORY", build), env=environment,
                          stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode
    seconds = time.monotonic() - began
    while time.monotonic() - began < seconds + 10:
        try:
            if os.waitpid(-1, os.WNOHANG)[0] == 0:
                time.sleep(0.05)
        except ChildProcessError:
            break
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(json.dumps([used.ru_utime, used.ru_stime, seconds, code]))


def measure(test, build):
    """(name, user, system, elapsed, exit code)"""
    out = subprocess.run([sys.executable, __file__, "--one", build], input=json.dumps(test), stdout=subprocess.PIPE, text=True,
                         check=True)
    return [test["name"], *json.loads(out.stdout)]


def main():
    if sys.argv[1] == "--one":
        return run(json.load(sys.stdin), sys.argv[2])
    build, pattern, jobs = (sys.argv[1:] + [".", "2"])[:3] if len(sys.argv) < 4 else sys.argv[1:4]
    shown = subprocess.run(["ctest", "--test-dir", build, "--show-only=json-v1", "-R", pattern], stdout=subprocess.PIPE, check=True)
    tests = [test for test in json.loads(shown.stdout)["tests"] if "command" in test]
    with concurrent.futures.ThreadPoolExecutor(int(jobs)) as pool:
        rows = sorted(pool.map(lambda test: measure(test, build), tests), key=lambda row: row[1] + row[2])
    for name, user, system, elapsed, code in rows:
        print("%8.2f user %8.2f system %8.2f elapsed  %s%s" % (user, system, elapsed, name,
                                                            "" if code == 0 else "  exit code %d" % code))
    print("%8.2f user %8.2f system, %d tests" % (sum(r[1] for r in rows), sum(r[2] for r in rows), len(rows)))
    return None


main()

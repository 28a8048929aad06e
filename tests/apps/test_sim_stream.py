"""test_sim_stream.py SOTTO SOURCE: rows of a file are streamed. Ten times the file takes no more memory, from a pipe, from a file, and with
rows grouped by device. SOTTO_CHAOS_CSV=MEGABYTES takes a file of that size: 300 in `make chaos`, 10000 by hand."""
import os
import re
import shutil
import subprocess
import sys
import tempfile

sotto, source = (os.path.abspath(a) for a in sys.argv[1:3])
large = int(os.environ.get("SOTTO_CHAOS_CSV", 24)) << 20
small = large // 10
SLACK = 8 << 20  # of pages that an allocator keeps
PARTS = 48 << 20  # rows by device: two parts of the file, which are sorted in memory one by one
failed = False


def rows(size):
    """CSV of about so many bytes in pieces: 20,000 devices, again and again, and a note that no query reads."""
    note = "n" * 150
    block = "".join(f"4.{5 + i % 4},E{1 + i % 30:02d},u{i},{note}\n" for i in range(20000)).encode()
    yield b"version,code,user,note\n"
    for _ in range(max(1, size // len(block))):
        yield block


def run(options, feed, stdin):
    """The exit status, what was printed, and the most memory that `sotto-sim` had."""
    command = [sotto, "sim", "run", "--recipe", "recipe.json", "--policy", "policy.json", "--fast", "--quiet", "--threads", "2"]
    with open("out", "w+b") as out, open("err", "w+b") as err:
        child = subprocess.Popen(command + options, stdin=stdin, stdout=out, stderr=err, env=environment)
        for piece in feed:
            child.stdin.write(piece)
        if feed:
            child.stdin.close()
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        return child.returncode, out.read().decode(), err.read().decode(), usage.ru_maxrss << 10


def compare(what, options, piped, slack=SLACK):
    """A tenth, then all of it."""
    global failed
    peaks = []
    for size in (small, large):
        if piped:
            code, out, err, peak = run(options + ["--csv", "/dev/stdin", "--streams", "streams.json"], rows(size), subprocess.PIPE)
        else:
            with open("rows.csv", "wb") as file:
                file.writelines(rows(size))
            code, out, err, peak = run(options + ["--csv", "rows.csv"], (), subprocess.DEVNULL)
        if code != 0 or not re.search(r"^\d+ devices simulated.*: \d+ reported", out):
            print(f"{what}: exit {code}\n{out[:400]}{err}")
            failed = True
            return
        peaks.append(peak)
    print(f"{what}: {small >> 20} MiB took {peaks[0] >> 20} MiB of memory, {large >> 20} MiB took {peaks[1] >> 20}")
    if peaks[1] > peaks[0] + slack and not sanitized:
        print(f"{what}: memory grows with the file")
        failed = True


with tempfile.TemporaryDirectory() as work:
    for name in ("recipe.json", "policy.json"):
        shutil.copy(os.path.join(source, "examples", "error-codes", name), work)
    os.chdir(work)
    with open("streams.json", "w", encoding="utf-8") as file:
        file.write('{"errors": {"fields": {"version": "text", "code": "text"}, "max_age": "30d", "max_rows": 100}}')
    # What a sanitizer holds back to find late uses is no memory of the program: its builds are run and not compared.
    sanitized = "ASAN_OPTIONS" in os.environ or "TSAN_OPTIONS" in os.environ
    environment = dict(os.environ, TMPDIR=work)
    compare("a pipe", [], True)
    compare("a file", [], False)
    compare("rows by device", ["--device-column", "user"], False, PARTS)
sys.exit(failed)
